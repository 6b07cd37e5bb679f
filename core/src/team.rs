//! A team of threads that works through one task together: a CUDA block, a CUDA warp, or one CPU thread.
//!
//! Code at team level is uniform: every member runs it with the same values, and the work inside is spread
//! over the members by [`Team::for_each`]. The reductions are over integers (or over the bits of non-negative
//! floats), so their results do not depend on the number of members, and neither does any algorithm built on
//! them. Members share memory through [`Slots`], never through `&mut`.

/// A team of threads. A device team is a set of threads that run the same code in step between barriers.
///
/// Every reduction is a barrier too: what members read or wrote before it is done when it returns. Two calls of [`Team::arg_max`]
/// need another barrier between them, for their scratch memory.
///
/// ```
/// use antwarp_core::team::{Serial, Slots, Team};
///
/// /// Adds 1 to each number, and returns the sum.
/// fn raise(team: impl Team, numbers: Slots<u64>, n: u32) -> u64 {
///     let mut sum = 0;
///     // SAFETY: each number belongs to one member.
///     team.for_each(n, |i| unsafe {
///         numbers.set(i, numbers.get(i) + 1);
///         sum += numbers.get(i);
///     });
///     team.sum(sum)
/// }
///
/// let mut numbers = [1, 2, 3];
/// // SAFETY: nobody else uses the numbers.
/// let sum = raise(Serial, unsafe { Slots::of(&mut numbers) }, 3);
/// assert_eq!((sum, numbers), (9, [2, 3, 4]));
/// ```
pub trait Team: Copy {
    /// Whether the team is one thread, which can branch without holding up others.
    const ALONE: bool = false;
    /// A part of the team that is itself a team: a warp of a block. All parts have the same size, and each member is in one of
    /// them.
    type Part: Team;

    /// Returns the part that this member is in. Parts may do different things until the next call that the whole team makes.
    fn part(self) -> Self::Part;
    /// Returns that part's number, below [`Team::parts`].
    fn part_rank(self) -> u32;
    /// Returns the number of parts.
    fn parts(self) -> u32;

    /// Returns this member's number, below [`Team::size`].
    fn rank(self) -> u32;
    /// Returns the number of members.
    fn size(self) -> u32;
    /// Waits for every member; what any of them wrote before is visible to all of them afterwards.
    fn barrier(self);
    /// Returns the largest key of all members, and the value of the member that has it; among equal keys that of the smallest tag.
    /// Tags of members with the largest key differ, or come with the same value.
    fn arg_max(self, key: u32, tag: u32, value: u32) -> (u32, u32);
    /// Returns the sum over all members, modulo 2^64.
    fn sum(self, value: u64) -> u64;
    /// Returns the smallest value of all members.
    fn min(self, value: u64) -> u64;

    /// Returns the sums over the members before this one, and over all, modulo 2^32.
    fn sum_before(self, value: u32) -> (u32, u32);

    /// Returns how many members before this one, and how many in all, pass true.
    #[inline(always)]
    fn rank_among(self, flag: bool) -> (u32, u32) {
        self.sum_before(flag as u32)
    }

    /// Calls `take` for each of 32 columns, on the member to which [`Team::for_each`] gives the column's number, with the column's
    /// bits in the 32 words that `row` returns for 0 .. 32: bit r comes from word r. Every member calls this. Any of them may ask
    /// `row` for any word, also more than once, and `take` must not change what `row` reads.
    #[inline(always)]
    fn transpose(self, row: impl Fn(u32) -> u32, mut take: impl FnMut(u32, u32)) {
        self.for_each(u32::BITS, |column| {
            let bit = |r: u32| (row(r) >> column & 1) << r;
            take(column, (0..u32::BITS).fold(0, |bits, r| bits | bit(r)));
        });
    }

    /// Returns whether to stop in the middle of a tour; asked before each step of it. Once true it stays true, and it is the same
    /// for all members. Only teams of one that check the clock ever return true.
    #[inline(always)]
    fn is_over(self) -> bool {
        false
    }

    /// Calls `work` for 0 .. n, index i on the member with rank i modulo [`Team::size`]; a member sees its indices in ascending
    /// order. Does not wait.
    #[inline(always)]
    fn for_each(self, n: u32, mut work: impl FnMut(u32)) {
        let mut i = self.rank();
        while i < n {
            work(i);
            i += self.size();
        }
    }

    /// Calls `work` on the first member only. Does not wait.
    #[inline(always)]
    fn single(self, work: impl FnOnce()) {
        if self.rank() == 0 {
            work()
        }
    }
}

/// A team of one: a CPU thread. CPU threads share out ants, trials and walks, so nothing here needs to wait.
#[derive(Clone, Copy, Debug)]
pub struct Serial;

impl Team for Serial {
    const ALONE: bool = true;
    type Part = Serial;

    #[inline(always)]
    fn part(self) -> Serial {
        self
    }
    #[inline(always)]
    fn part_rank(self) -> u32 {
        0
    }
    #[inline(always)]
    fn parts(self) -> u32 {
        1
    }
    #[inline(always)]
    fn rank(self) -> u32 {
        0
    }
    #[inline(always)]
    fn size(self) -> u32 {
        1
    }
    #[inline(always)]
    fn barrier(self) {}
    #[inline(always)]
    fn arg_max(self, key: u32, _tag: u32, value: u32) -> (u32, u32) {
        (key, value)
    }
    #[inline(always)]
    fn sum(self, value: u64) -> u64 {
        value
    }
    #[inline(always)]
    fn min(self, value: u64) -> u64 {
        value
    }
    #[inline(always)]
    fn sum_before(self, value: u32) -> (u32, u32) {
        (0, value)
    }
    /// Transposes by halves: H.S. Warren, "Hacker's Delight", section 7-3.
    #[inline(always)]
    fn transpose(self, row: impl Fn(u32) -> u32, mut take: impl FnMut(u32, u32)) {
        // Loops over indices: `zip` was compiled to calls, which took a quarter of the time of a walk on a small perceptron.
        let (mut words, mut at) = ([0u32; 32], 0);
        while at < 32 {
            words[at] = row(at as u32);
            at += 1;
        }
        exchange::<16>(&mut words, 0x0000_ffff);
        exchange::<8>(&mut words, 0x00ff_00ff);
        exchange::<4>(&mut words, 0x0f0f_0f0f);
        exchange::<2>(&mut words, 0x3333_3333);
        exchange::<1>(&mut words, 0x5555_5555);
        let mut at = 0;
        while at < 32 {
            take(at as u32, words[at]);
            at += 1;
        }
    }
}

/// Exchanges, in each square of 2 `DISTANCE` rows and columns, the quarter above the diagonal for the one below; `mask` has the lower half of
/// the columns of each square.
#[inline(always)]
fn exchange<const DISTANCE: usize>(words: &mut [u32; 32], mask: u32) {
    let mut start = 0;
    while start < 32 {
        let mut low = start;
        while low < start + DISTANCE {
            let both = ((words[low] >> DISTANCE) ^ words[low + DISTANCE]) & mask;
            words[low + DISTANCE] ^= both;
            words[low] ^= both << DISTANCE;
            low += 1;
        }
        start += 2 * DISTANCE;
    }
}

/// An array that a team shares: a raw pointer, because other members write to it between barriers, which a
/// reference would promise not to happen.
///
/// The rule that keeps it sound: between two barriers an element is written by one member and read by no other, or not written at
/// all.
///
/// It is just a pointer, unless the feature `checked` is on, as in tests: then it knows its length, and an out-of-bounds access
/// panics.
#[cfg_attr(not(feature = "checked"), repr(transparent))]
pub struct Slots<T> {
    start: *mut T,
    #[cfg(feature = "checked")]
    len: usize,
}

#[cfg(not(feature = "checked"))]
const _: () = assert!(size_of::<Slots<u32>>() == size_of::<*mut u32>());

impl<T> Clone for Slots<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<T> {}

impl<T: Copy> Slots<T> {
    /// Makes an array of `len` elements; without the feature `checked`, `len` is not used.
    ///
    /// # Safety
    /// `start` is aligned, and valid for reads and writes of every element that will be used, for as long as it is used.
    #[inline(always)]
    pub unsafe fn new(start: *mut T, len: usize) -> Self {
        #[cfg(not(feature = "checked"))]
        let _ = len;
        Slots {
            start,
            #[cfg(feature = "checked")]
            len,
        }
    }

    /// Makes an array of the elements of a slice.
    ///
    /// # Safety
    /// As [`Slots::new`], also after the end of the borrow.
    #[inline(always)]
    pub unsafe fn of(elements: &mut [T]) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Slots::new(elements.as_mut_ptr(), elements.len()) }
    }

    /// Makes an array without elements, in place of an unused one.
    #[inline(always)]
    pub fn none() -> Self {
        // SAFETY: there is no element that could be used.
        unsafe { Slots::new(core::ptr::null_mut(), 0) }
    }

    /// Panics if there are not `len` elements from `start` on, if the length is known.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    fn check(self, start: usize, len: usize) {
        #[cfg(feature = "checked")]
        assert!(
            start <= self.len && len <= self.len - start,
            "no {len} elements from {start} on: there are {}",
            self.len
        );
        #[cfg(not(feature = "checked"))]
        let _ = (start, len);
    }

    /// Returns the part of `len` elements from `start` on, which may have more than 2^32 before it.
    ///
    /// # Safety
    /// They are inside the array.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn part(self, start: usize, len: usize) -> Self {
        self.check(start, len);
        // SAFETY: the caller's promise.
        unsafe { Slots::new(self.start.add(start), len) }
    }

    /// Returns the element at `i`.
    ///
    /// # Safety
    /// `i` is inside the array, and the rule of [`Slots`] holds.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn get(self, i: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { *self.at(i) }
    }

    /// Replaces the element at `i`.
    ///
    /// # Safety
    /// `i` is inside the array, and the rule of [`Slots`] holds.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn set(self, i: u32, value: T) {
        // SAFETY: the caller's promise.
        unsafe { *self.at(i) = value }
    }

    /// Returns the address of element `i`.
    ///
    /// # Safety
    /// `i` is inside the array.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn at(self, i: u32) -> *mut T {
        // SAFETY: the caller's promise.
        unsafe { self.run(i, 1) }
    }

    /// Returns the address of element `i`, from which `len` elements are read or written together.
    ///
    /// # Safety
    /// All of them are inside the array.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn run(self, i: u32, len: u32) -> *mut T {
        self.check(i as usize, len as usize);
        // SAFETY: the caller's promise.
        unsafe { self.start.add(i as usize) }
    }
}

impl Slots<u64> {
    /// Raises the word at `i` to at least `value`, which other members of the team `T` may do at the same time.
    ///
    /// # Safety
    /// `i` is inside the array, and nobody reads or replaces the word meanwhile.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn raise<T: Team>(self, i: u32, value: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            if T::ALONE {
                self.set(i, self.get(i).max(value));
            } else {
                let word = core::sync::atomic::AtomicU64::from_ptr(self.at(i));
                word.fetch_max(value, core::sync::atomic::Ordering::Relaxed);
            }
        }
    }
}

impl Slots<u32> {
    /// Sets bits of the word at `i`, which other members of the team `T` may do at the same time.
    ///
    /// # Safety
    /// `i` is inside the array, and nobody reads or replaces the word meanwhile.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn insert<T: Team>(self, i: u32, bits: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            if T::ALONE {
                self.set(i, self.get(i) | bits);
            } else {
                let word = core::sync::atomic::AtomicU32::from_ptr(self.at(i));
                word.fetch_or(bits, core::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    /// Adds 1 to the word at `i`, which other members of the team `T` may do at the same time; returns the value before.
    ///
    /// # Safety
    /// `i` is inside the array, and nobody replaces the word meanwhile.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn count<T: Team>(self, i: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            if T::ALONE {
                let before = self.get(i);
                self.set(i, before + 1);
                before
            } else {
                let word = core::sync::atomic::AtomicU32::from_ptr(self.at(i));
                word.fetch_add(1, core::sync::atomic::Ordering::Relaxed)
            }
        }
    }

    /// Adds to the word at `i`, which other members of the team `T` may do at the same time.
    ///
    /// # Safety
    /// `i` is inside the array, and nobody reads or replaces the word meanwhile.
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn add<T: Team>(self, i: u32, value: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            if T::ALONE {
                self.set(i, self.get(i) + value);
            } else {
                let word = core::sync::atomic::AtomicU32::from_ptr(self.at(i));
                word.fetch_add(value, core::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    /// Clears bits of the word at `i`.
    ///
    /// # Safety
    /// As [`Slots::set`].
    #[inline(always)]
    #[cfg_attr(feature = "checked", track_caller)]
    pub unsafe fn clear(self, i: u32, bits: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            if cfg!(target_arch = "nvptx64") {
                // One instruction that is not waited for, where a load would have to return first.
                let word = core::sync::atomic::AtomicU32::from_ptr(self.at(i));
                word.fetch_and(!bits, core::sync::atomic::Ordering::Relaxed);
            } else {
                self.set(i, self.get(i) & !bits);
            }
        }
    }
}

/// A member's seat when members divide places among them: each keeps one place, and takes some of the turns there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Its first place; the next one is as many places on as there are members.
    pub place: u32,
    /// Its turn, from 0.
    pub turn: u32,
    /// How many members share a place. Members whose turn is not below this are left over.
    pub turns: u32,
}

/// Returns the seat of a member, below `members`, at n places; n is at least 1, n + `members` below 2^32, and there are fewer than
/// 2^22 turns.
///
/// Quotients are computed without integer division: compilers repeat that in each turn of a surrounding loop, because it might be
/// by 0.
#[inline(always)]
pub fn seat(n: u32, members: u32, member: u32) -> Seat {
    let inverse = 1.0 / n as f32;
    let quotient = |x: u32| {
        // Off by less than 1.
        let guess = (x as f32 * inverse) as u32;
        let guess = guess - (guess.wrapping_mul(n) > x) as u32;
        guess + (x - guess.wrapping_mul(n) >= n) as u32
    };
    let turn = quotient(member);
    let turns = quotient(members);
    Seat { place: member - turn.wrapping_mul(n), turn, turns: if turns == 0 { 1 } else { turns } }
}
