//! Runs that share their tours in lockstep, and reach the same results.
//!
//! With a single tour, each run makes a part of a round's trials, and all make the same changes. With tours that are to be crossed,
//! each run kicks some of them; then all runs have all of them, and each crosses a part of the pairs of a generation.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use antwarp_core::lin_kernighan::trial::TrialRound;

use super::means::Means;
use crate::engine::lin_kernighan::Found;
use crate::engine::{BackendError, Enough, LinKernighan, Lockstep, Post, Sharing};

/// Weight of a run's earlier trials and seconds in each following round, so that its current speed counts.
const FADING: f64 = 0.95;
/// Most bytes of tours that a run sends to all: MPI counts with 31 bits.
const MOST_BYTES: usize = 1 << 30;

/// Sent by a run to the others before they start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Force {
    /// Its seed.
    pub seed: u64,
    /// Its time limit in seconds.
    pub time: Option<f64>,
    pub means: Means,
    /// Tours that it works on if they are not crossed, and kicks of each in a round.
    pub chains: u32,
    pub trials: u32,
    /// What it starts with: runs that share tours start alike. 0 if it does not continue from a checkpoint.
    pub start: u64,
}

impl Force {
    fn to_bytes(self) -> Vec<u8> {
        let Force { seed, time, means: Means { kicks, thread, threads, on_gpus, .. }, chains, trials, start } =
            self;
        let time = time.unwrap_or(f64::INFINITY);
        let small = [threads, on_gpus.into(), chains, trials].map(u64::from);
        let numbers =
            [seed, start, time.to_bits(), kicks.to_bits(), thread.to_bits()].into_iter().chain(small);
        numbers.flat_map(u64::to_le_bytes).collect()
    }

    fn of(bytes: &[u8]) -> Option<Force> {
        let numbers: Vec<u64> =
            bytes.as_chunks::<8>().0.iter().map(|&number| u64::from_le_bytes(number)).collect();
        let &[seed, start, time, kicks, thread, threads, on_gpus, chains, trials] = &numbers[..] else {
            return None;
        };
        let small = |number: u64| u32::try_from(number).ok();
        // Runs that share tours do not kick them in place.
        let (kicks, thread, on_gpus) = (f64::from_bits(kicks), f64::from_bits(thread), on_gpus != 0);
        let means = Means { kicks, thread, threads: small(threads)?, on_gpus, in_place: false };
        let time = Some(f64::from_bits(time)).filter(|time| time.is_finite());
        Some(Force { seed, time, means, chains: small(chains)?, trials: small(trials)?, start })
    }
}

/// Sent by a run to the others after its trials of a round.
#[derive(Debug, PartialEq)]
struct Told {
    /// The round's number.
    round: u32,
    /// The completed share of its run.
    progress: f32,
    /// Seconds that its trials took.
    seconds: f32,
    found: Found,
}

impl Told {
    fn to_bytes(&self) -> Vec<u8> {
        let Found { made, words } = &self.found;
        let head = [self.round, self.progress.to_bits(), self.seconds.to_bits(), *made];
        head.iter().chain(words).flat_map(|word| word.to_le_bytes()).collect()
    }

    fn of(bytes: &[u8]) -> Option<Told> {
        let mut words = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
        let round = words.next()?;
        let [progress, seconds] = [words.next()?, words.next()?].map(f32::from_bits);
        let found = Found { made: words.next()?, words: words.collect() };
        Some(Told { round, progress, seconds, found })
    }
}

/// Tours with kicks, and the numbers of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Kicked {
    /// Kicks of each tour, and kicks per second of all of them.
    pub each: u64,
    pub rate: f64,
    /// The time left.
    pub left: Duration,
    /// The tours, concatenated.
    pub tours: Vec<u32>,
}

impl Kicked {
    fn to_bytes(&self) -> Vec<u8> {
        let head = [self.each, self.rate.to_bits(), self.left.as_secs_f64().to_bits()];
        let tours = self.tours.iter().flat_map(|node| node.to_le_bytes());
        head.into_iter().flat_map(u64::to_le_bytes).chain(tours).collect()
    }

    fn of(bytes: &[u8]) -> Option<Kicked> {
        let (head, tours) = bytes.split_at_checked(24)?;
        let [each, rate, left] = *head.as_chunks::<8>().0 else { return None };
        let real = |bytes| f64::from_bits(u64::from_le_bytes(bytes));
        let tours = tours.as_chunks::<4>().0.iter().map(|&node| u32::from_le_bytes(node)).collect();
        let left = Duration::try_from_secs_f64(real(left)).ok()?;
        Some(Kicked { each: u64::from_le_bytes(each), rate: real(rate), left, tours })
    }
}

/// The trials made in a round.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub by_all: u64,
    /// Those made by this run.
    pub here: u64,
}

/// The speed of a run.
#[derive(Clone, Copy, Debug)]
struct Speed {
    trials: f64,
    seconds: f64,
}

impl Speed {
    fn note(&mut self, trials: u32, seconds: f32) {
        if trials > 0 && seconds > 0.0 {
            self.trials = FADING * self.trials + f64::from(trials);
            self.seconds = FADING * self.seconds + f64::from(seconds);
        }
    }

    fn rate(self) -> f64 {
        self.trials / self.seconds
    }
}

/// One of the runs that share tours.
#[derive(Clone, Copy, Debug)]
struct Partner {
    force: Force,
    speed: Speed,
}

/// All runs that share tours, as seen by one of them; all see the same.
pub struct Partners<'a> {
    post: &'a Post,
    lockstep: &'a Lockstep,
    /// By number; `None` for those that have left.
    all: Vec<Option<Partner>>,
    /// Their common seed.
    pub seed: u64,
    /// The completed share of the run, as reported by the first of them.
    pub progress: f32,
    /// Whether they have the same tours, not each its own.
    have_same: bool,
    /// The number of runs that met.
    met: usize,
}

impl<'a> Partners<'a> {
    /// Meets the others, if there are any, and learns the force of each of them, itself included. `None` if there is nobody to
    /// share tours with.
    pub fn meet(post: Option<&'a Post>, own: Force, enough: Enough) -> Option<Partners<'a>> {
        let post = post?;
        let lockstep = post.lockstep()?;
        let told = lockstep.step(own.to_bytes(), enough)?;
        let partner = |force: Force| {
            let speed = Speed { trials: force.means.kicks.max(1.0), seconds: 1.0 };
            Partner { force, speed }
        };
        let all = told.iter().map(|told| Some(partner(Force::of(told.as_ref()?)?))).collect();
        let mut partners = Partners { post, lockstep, all, seed: 0, progress: 0.0, have_same: false, met: 0 };
        let forces = partners.forces();
        partners.met = forces.len();
        partners.seed = forces.first()?.seed;
        (forces.len() > 1).then_some(partners)
    }

    /// Returns the forces of all, in order.
    pub fn forces(&self) -> Vec<Force> {
        self.all.iter().flatten().map(|partner| partner.force).collect()
    }

    /// Keeps the runs that start like the first of them. `None` if this run is not one of them, or the only one.
    pub fn alike(mut self) -> Option<Partners<'a>> {
        let start = self.forces().first()?.start;
        self.all.iter_mut().for_each(|run| *run = run.filter(|run| run.force.start == start));
        let is_one_of_them = self.all[self.lockstep.own() as usize].is_some();
        (is_one_of_them && self.forces().len() > 1).then_some(self)
    }

    /// Returns whether this run is the first of them.
    pub fn is_first(&self) -> bool {
        self.all.iter().position(Option::is_some) == Some(self.lockstep.own() as usize)
    }

    /// Keeps the runs that share a single tour from now on. Where there are GPUs, threads would hold them up: a merge takes threads
    /// as long as a round takes a GPU. `None` if this run is not one of them, or the only one.
    pub fn of_one_tour(mut self) -> Option<Partners<'a>> {
        if self.forces().iter().any(|force| force.means.on_gpus) {
            self.all.iter_mut().for_each(|run| *run = run.filter(|run| run.force.means.on_gpus));
        }
        let is_one_of_them = self.all[self.lockstep.own() as usize].is_some();
        (is_one_of_them && self.forces().len() > 1).then_some(self)
    }

    /// Starts sharing tours: no tours from elsewhere are needed if all runs that met take part.
    pub fn begin(&self) {
        if self.forces().len() == self.met {
            self.post.set_in_lockstep();
        }
    }

    /// Sets whether they have the same tours from now on, or each has its own.
    pub fn have_same(&mut self, have_same: bool) {
        self.have_same = have_same;
        // The first of them reports what they have in common.
        self.post.set_silent(have_same && !self.is_first());
    }

    /// Sends a message to all others, and returns their messages, by number, as far as they can be read. A run whose message cannot
    /// be read, or which has left, does not take part any more. `None` if this run is over.
    fn step<T>(
        &mut self,
        told: Vec<u8>,
        read: impl Fn(&Arc<Vec<u8>>) -> Option<T>,
        enough: Enough,
    ) -> Option<Vec<Option<T>>> {
        let step = self.lockstep.step(told, enough)?;
        let are_in = self.all.iter().map(Option::is_some);
        let told: Vec<Option<T>> =
            step.iter().zip(are_in).map(|(told, is_in)| read(told.as_ref().filter(|_| is_in)?)).collect();
        self.all.iter_mut().zip(&told).filter(|(_, told)| told.is_none()).for_each(|(run, _)| *run = None);
        self.have_same(self.have_same);
        Some(told)
    }

    /// Returns the value sent by the first of them.
    pub fn agree(&mut self, own: u64, enough: Enough) -> Option<u64> {
        let read = |told: &Arc<Vec<u8>>| told.first_chunk().map(|&bytes| u64::from_le_bytes(bytes));
        self.step(own.to_le_bytes().to_vec(), read, enough)?.into_iter().flatten().next()
    }

    /// Returns this run's part of this many pieces, in proportion to each run's worth, with at least one for each where there are
    /// enough. (Nobody would notice that a run with none became faster.)
    fn part_by(&self, pieces: u32, worth: impl Fn(&Partner) -> f64) -> Range<u32> {
        let runs = self.all.iter().flatten().count() as u32;
        let least = u32::from(pieces >= runs);
        let worth: Vec<f64> = self.all.iter().map(|run| run.as_ref().map_or(0.0, &worth)).collect();
        let sum: f64 = worth.iter().sum();
        let until = |run: usize| {
            let share = worth[..run].iter().sum::<f64>() / sum;
            let before = self.all[..run].iter().flatten().count() as u32;
            let end = least * before + (f64::from(pieces - least * runs) * share).round() as u32;
            if run == self.all.len() { pieces } else { end.min(pieces) }
        };
        let own = self.lockstep.own() as usize;
        until(own)..until(own + 1)
    }

    /// Returns how many of this many tours this run kicks, or makes without kicks: at least one.
    pub fn tours(&self, count: u32, are_kicked: bool) -> u32 {
        let worth = |Partner { force: Force { means, .. }, .. }: &Partner| {
            if are_kicked { means.kicks } else { f64::from(means.threads) }
        };
        (self.part_by(count, worth).len() as u32).max(1)
    }

    /// Runs a round of all. `None` if this run is over.
    ///
    /// # Errors
    /// As [`LinKernighan::run`].
    pub fn round(
        &mut self,
        engine: &mut dyn LinKernighan,
        round: TrialRound,
        progress: f32,
        enough: Enough,
    ) -> Result<Option<Made>, BackendError> {
        let begun = Instant::now();
        let part = self.part_by(round.trials, |partner| partner.speed.rate());
        let found = engine.find(round, part, enough)?;
        let here = u64::from(found.made);
        let told = Told { round: round.number, progress, seconds: begun.elapsed().as_secs_f32(), found };
        let read = |told: &Arc<Vec<u8>>| Told::of(told).filter(|told| told.round == round.number);
        let Some(all) = self.step(told.to_bytes(), read, enough) else { return Ok(None) };
        for (partner, told) in self.all.iter_mut().zip(&all) {
            if let (Some(partner), Some(told)) = (partner, told) {
                partner.speed.note(told.found.made, told.seconds);
            }
        }
        self.progress = all.iter().flatten().next().map_or(progress, |told| told.progress);
        let by_all = all.iter().flatten().map(|told| u64::from(told.found.made)).sum();
        let mut found: Vec<Found> = all.into_iter().flatten().map(|told| told.found).collect();
        engine.make(round, &mut found)?;
        Ok(Some(Made { by_all, here }))
    }

    /// Returns the tours of all, of n nodes. `None` if this run is over, or has too many of them.
    pub fn all_tours(&mut self, own: &Kicked, n: u32, enough: Enough) -> Option<Kicked> {
        if size_of_val(&own.tours[..]) > MOST_BYTES {
            return None;
        }
        let read = |told: &Arc<Vec<u8>>| {
            Kicked::of(told).filter(|kicked| kicked.tours.len().is_multiple_of(n as usize))
        };
        let mut all = self.step(own.to_bytes(), read, enough)?.into_iter().flatten();
        let mut sum = all.next()?;
        for one in all {
            sum.rate += one.rate;
            sum.tours.extend(one.tours);
        }
        Some(sum)
    }
}

impl Sharing for Partners<'_> {
    fn part(&self, pieces: u32) -> Range<u32> {
        self.part_by(pieces, |partner| partner.force.means.threads.into())
    }

    fn gather(&mut self, made: Vec<u8>, enough: Enough) -> Option<Vec<Arc<Vec<u8>>>> {
        // A message is never empty.
        let made = [&[0], &made[..]].concat();
        let all = self.step(made, |told| told.get(1..).map(|made| Arc::new(made.to_vec())), enough)?;
        Some(all.into_iter().flatten().collect())
    }
}

impl Drop for Partners<'_> {
    fn drop(&mut self) {
        self.lockstep.leave();
        self.post.set_silent(false);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::scope;

    use super::*;
    use crate::backend::{Backend, Choice};
    use crate::engine::{Observe, Progress, Stop};
    use crate::instance::{Instance, generate};
    use crate::solver::lin_kernighan::LinKernighanSettings;
    use crate::solver::{Algorithm, Solution};

    /// Carries the messages of each to all others.
    fn carry(posts: &[Post]) {
        for (from, post) in posts.iter().enumerate() {
            while let Some(told) = post.lockstep().and_then(Lockstep::collect) {
                let others = posts.iter().enumerate().filter(|&(to, _)| to != from);
                let others = others.filter_map(|(_, post)| post.lockstep());
                others.for_each(|to| to.deliver(from as u32, told.to_vec()));
            }
        }
    }

    /// Returns the results of several runs, of which this one is interrupted from the start.
    fn solve(
        instance: &Instance,
        chains: Option<u32>,
        stop: &Stop,
        (runs, interrupted): (u32, Option<u32>),
    ) -> Vec<Solution> {
        let algorithm = Algorithm::LinKernighan(LinKernighanSettings { chains, ..Default::default() });
        let posts: Vec<Post> = (0..runs).map(|own| Post::in_step(own, runs)).collect();
        let is_over = AtomicBool::new(false);
        let run = |own: u32, post: &Post| {
            let backend = Backend::open(Choice::Cpu).unwrap().0;
            let interrupt = Arc::new(AtomicBool::new(interrupted == Some(own)));
            let stop = Stop { interrupt, ..stop.clone() };
            let algorithm = algorithm.clone().of_island(own);
            let observe: &mut dyn Observe = &mut |_: &Progress| ();
            algorithm
                .solve_as_island(instance, (None, None), (&backend, &stop), (observe, post), None)
                .unwrap()
        };
        scope(|s| {
            s.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    carry(&posts);
                    std::thread::yield_now();
                }
            });
            let runs: Vec<_> = (0..).zip(&posts).map(|(own, post)| s.spawn(move || run(own, post))).collect();
            let solved = runs.into_iter().map(|run| run.join().unwrap()).collect();
            is_over.store(true, Ordering::Relaxed);
            solved
        })
    }

    #[test]
    fn runs_that_share_a_tour_make_of_it_what_one_makes_alone() {
        let instance = generate::uniform(3000, 7).unwrap();
        let stop = Stop { iterations: Some(2000), ..Stop::never() };
        let alone = solve(&instance, Some(1), &stop, (1, None)).remove(0);
        assert_eq!(alone.iterations, 2000);
        assert!(alone.tours == 2000 && alone.cost == instance.check_tour(&alone.tour).unwrap());
        for runs in [2, 3] {
            let all = solve(&instance, Some(1), &stop, (runs, None));
            assert_eq!(all.iter().map(|solution| solution.tours).sum::<u64>(), 2000);
            for solution in all {
                assert_eq!((solution.cost, &solution.tour), (alone.cost, &alone.tour), "{runs} runs");
                assert_eq!(solution.iterations, 2000);
                // Each of them makes a part.
                assert!((1..2000).contains(&solution.tours), "{} of {runs} runs", solution.tours);
            }
        }
        // A run that is over before it started does not hold up the others, which make as many kicks without it.
        let all = solve(&instance, Some(1), &stop, (3, Some(1)));
        assert_eq!((all[0].iterations, all[1].iterations), (2000, 0));
        assert!(all[0].cost == instance.check_tour(&all[0].tour).unwrap() && all[0].tour == all[2].tour);
    }

    #[test]
    fn runs_that_cross_share_their_tours() {
        // With so few nodes the first tours are made, and crossed, long before the time is up.
        let instance = generate::uniform(200, 8).unwrap();
        let stop = Stop { time: Some(Duration::from_secs(3)), ..Stop::never() };
        for solution in solve(&instance, None, &stop, (3, None)) {
            assert_eq!(solution.cost, instance.check_tour(&solution.tour).unwrap());
            assert!(solution.layout.contains("; crossed"), "{}", solution.layout);
        }
    }

    fn force(time: Option<f64>) -> Force {
        let means = Means { kicks: 0.1, thread: 0.2, threads: 3, on_gpus: true, in_place: false };
        Force { seed: u64::MAX, time, means, chains: 1, trials: 1 << 20, start: 1 << 63 }
    }

    #[test]
    fn what_runs_tell_comes_back_as_it_was() {
        for time in [None, Some(0.25)] {
            let force = force(time);
            assert_eq!(Force::of(&force.to_bytes()), Some(force));
        }
        let force = force(None);
        assert!((0..72).all(|length| Force::of(&force.to_bytes()[..length]).is_none()));
        let found = Found { made: 4, words: vec![1, 2, u32::MAX] };
        let told = Told { round: 7, progress: 0.25, seconds: 1e-3, found };
        assert_eq!(Told::of(&told.to_bytes()), Some(told));
        assert_eq!(Told::of(&[0; 15]), None);
        let kicked = Kicked { each: 1 << 40, rate: 0.5, left: Duration::from_secs(3), tours: vec![2, 0, 1] };
        assert_eq!(Kicked::of(&kicked.to_bytes()), Some(kicked));
        assert_eq!(Kicked::of(&[0; 23]), None);
    }

    #[test]
    fn faster_runs_make_more_of_the_trials() {
        let post = Post::in_step(1, 3);
        let lockstep = post.lockstep().unwrap();
        let speed = |trials: f64| Some(Partner { force: force(None), speed: Speed { trials, seconds: 1.0 } });
        let part = |all| {
            let partners =
                Partners { post: &post, lockstep, all, seed: 0, progress: 0.0, have_same: true, met: 3 };
            [1000, 3, 2].map(|pieces| partners.part_by(pieces, |partner| partner.speed.rate()))
        };
        assert_eq!(part(vec![speed(1.0), speed(1.0), None]), [500..1000, 2..3, 1..2]);
        assert_eq!(part(vec![speed(1.0), speed(3.0), speed(1.0)]), [200..800, 1..2, 0..2]);
        assert_eq!(part(vec![speed(1e12), speed(1.0), None]), [999..1000, 2..3, 1..2]);
        let mut speed = Speed { trials: 1e4, seconds: 1.0 };
        (0..200).for_each(|_| speed.note(10, 0.1));
        assert!((speed.rate() - 100.0).abs() < 2.0, "{}", speed.rate());
    }
}
