//! Runs that work on one tour in lockstep: each makes its part of a round's trials, and all make the same changes.

use std::ops::Range;
use std::time::Instant;

use crate::engine::lin_kernighan::Found;
use crate::engine::{BackendError, Enough, LinKernighan, Lockstep, Post};
use antwarp_core::lin_kernighan::trial::TrialRound;

/// What counts of a run's trials and seconds in each round that follows: how fast it is now.
const FADING: f64 = 0.95;
/// Share of the trials that even the slowest run has, compared to an equal one: else nobody would know if it got faster.
const LEAST: f64 = 0.01;

/// What a run tells the others before they begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Force {
    /// Its seed.
    pub seed: u64,
    /// Kicks a second that it makes, about.
    pub kicks: f64,
    /// CPU threads that make them; 0 on a GPU.
    pub threads: u32,
    /// Tours that it would work on, and kicks of each in a round.
    pub chains: u32,
    pub trials: u32,
}

impl Force {
    fn to_bytes(self) -> Vec<u8> {
        let Force { seed, kicks, threads, chains, trials } = self;
        let numbers = [seed, kicks.to_bits(), threads.into(), chains.into(), trials.into()];
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn of(bytes: &[u8]) -> Option<Force> {
        let numbers: Vec<u64> =
            bytes.as_chunks::<8>().0.iter().map(|&number| u64::from_le_bytes(number)).collect();
        let &[seed, kicks, threads, chains, trials] = &numbers[..] else { return None };
        let small = |number: u64| u32::try_from(number).ok();
        Some(Force {
            seed,
            kicks: f64::from_bits(kicks),
            threads: small(threads)?,
            chains: small(chains)?,
            trials: small(trials)?,
        })
    }
}

/// What a run tells the others after its trials of a round.
#[derive(Debug, PartialEq)]
struct Told {
    /// How much of its run is done.
    progress: f32,
    /// Seconds that its trials took.
    seconds: f32,
    found: Found,
}

impl Told {
    fn to_bytes(&self) -> Vec<u8> {
        let Found { made, words } = &self.found;
        let head = [self.progress.to_bits(), self.seconds.to_bits(), *made];
        head.iter().chain(words).flat_map(|word| word.to_le_bytes()).collect()
    }

    fn of(bytes: &[u8]) -> Option<Told> {
        let mut words = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
        let [progress, seconds] = [words.next()?, words.next()?].map(f32::from_bits);
        let found = Found { made: words.next()?, words: words.collect() };
        Some(Told { progress, seconds, found })
    }
}

/// Trials that were made of a round.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub by_all: u64,
    /// By this run.
    pub here: u64,
}

/// How fast a run is.
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

/// All runs that share a tour, as one of them sees them; all see the same.
pub struct Partners<'a> {
    post: &'a Post,
    lockstep: &'a Lockstep,
    /// None of those that have left.
    speeds: Vec<Option<Speed>>,
    /// How much of the run is done, as the first of them says.
    pub progress: f32,
}

impl<'a> Partners<'a> {
    /// Meets the others, if there are any, and learns what each of them is, the own one among them. None if there is nobody to share
    /// anything with.
    pub fn meet(post: Option<&'a Post>, own: Force, enough: Enough) -> Option<(Partners<'a>, Vec<Force>)> {
        let post = post?;
        let lockstep = post.lockstep()?;
        let told = lockstep.step(own.to_bytes(), enough)?;
        let forces: Vec<Option<Force>> = told.iter().map(|told| Force::of(told.as_ref()?)).collect();
        let speed = |force: &Option<Force>| force.map(|force| Speed { trials: force.kicks.max(1.0), seconds: 1.0 });
        let partners =
            Partners { post, lockstep, speeds: forces.iter().map(speed).collect(), progress: 0.0 };
        let forces: Vec<Force> = forces.into_iter().flatten().collect();
        (forces.len() > 1).then_some((partners, forces))
    }

    /// The others need no tours from here: they have the same.
    pub fn begin(&self) {
        self.post.set_common(self.speeds.iter().all(Option::is_some));
    }

    /// This run's part of so many trials.
    fn part(&self, trials: u32) -> Range<u32> {
        let equal = 1.0 / self.speeds.iter().flatten().count().max(1) as f64;
        let all: f64 = self.speeds.iter().flatten().map(|speed| speed.rate()).sum();
        let share = |speed: &Option<Speed>| speed.map_or(0.0, |speed| (speed.rate() / all).max(LEAST * equal));
        let shares: Vec<f64> = self.speeds.iter().map(share).collect();
        let sum: f64 = shares.iter().sum();
        let until = |run: usize| match run {
            run if run == shares.len() => trials,
            run => (f64::from(trials) * shares[..run].iter().sum::<f64>() / sum) as u32,
        };
        let own = self.lockstep.own() as usize;
        until(own)..until(own + 1)
    }

    /// A round of all. None if this run is over.
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
        let found = engine.find(round, self.part(round.trials), enough)?;
        let here = u64::from(found.made);
        let told = Told { progress, seconds: begun.elapsed().as_secs_f32(), found };
        let Some(step) = self.lockstep.step(told.to_bytes(), enough) else { return Ok(None) };
        let all: Vec<Option<Told>> = step.iter().map(|told| Told::of(told.as_ref()?)).collect();
        for (speed, told) in self.speeds.iter_mut().zip(&all) {
            match told {
                Some(told) => speed.iter_mut().for_each(|speed| speed.note(told.found.made, told.seconds)),
                None => *speed = None,
            }
        }
        self.progress = all.iter().flatten().next().map_or(progress, |told| told.progress);
        let by_all = all.iter().flatten().map(|told| u64::from(told.found.made)).sum();
        let mut found: Vec<Found> = all.into_iter().flatten().map(|told| told.found).collect();
        engine.make(round, &mut found)?;
        Ok(Some(Made { by_all, here }))
    }
}

impl Drop for Partners<'_> {
    fn drop(&mut self) {
        self.lockstep.leave();
        self.post.set_common(false);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::scope;

    use super::*;
    use crate::backend::{Backend, Choice};
    use crate::engine::{Progress, Stop};
    use crate::instance::{Instance, generate};
    use crate::solver::lin_kernighan::LinKernighanSettings;
    use crate::solver::{Algorithm, Solution};

    /// Carries what there is from each to all others.
    fn carry(posts: &[Post]) {
        for (from, post) in posts.iter().enumerate() {
            while let Some(told) = post.lockstep().and_then(Lockstep::collect) {
                let others = posts.iter().enumerate().filter(|&(to, _)| to != from);
                let others = others.filter_map(|(_, post)| post.lockstep());
                others.for_each(|to| to.deliver(from as u32, told.to_vec()));
            }
        }
    }

    /// What each of some runs ends with, of which this one is interrupted from the beginning.
    fn solve(instance: &Instance, stop: &Stop, runs: u32, interrupted: Option<u32>) -> Vec<Solution> {
        let algorithm = Algorithm::LinKernighan(LinKernighanSettings { chains: Some(1), ..Default::default() });
        let posts: Vec<Post> = (0..runs).map(|own| Post::in_step(own, runs)).collect();
        let is_over = AtomicBool::new(false);
        let run = |post: &Post| {
            let backend = Backend::open(Choice::Cpu).unwrap().0;
            let interrupt = Arc::new(AtomicBool::new(interrupted == Some(post.island())));
            let stop = Stop { interrupt, ..stop.clone() };
            let algorithm = algorithm.clone().of_island(post.island());
            let observe: &mut dyn FnMut(&Progress) = &mut |_| ();
            algorithm.solve_as_island(instance, None, (&backend, &stop), (observe, post), None).unwrap()
        };
        scope(|s| {
            s.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    carry(&posts);
                    std::thread::yield_now();
                }
            });
            let runs: Vec<_> = posts.iter().map(|post| s.spawn(|| run(post))).collect();
            let solved = runs.into_iter().map(|run| run.join().unwrap()).collect();
            is_over.store(true, Ordering::Relaxed);
            solved
        })
    }

    #[test]
    fn runs_that_share_a_tour_make_of_it_what_one_makes_alone() {
        let instance = generate::uniform(3000, 7).unwrap();
        let stop = Stop { iterations: Some(5000), ..Stop::never() };
        let alone = solve(&instance, &stop, 1, None).remove(0);
        assert_eq!(alone.iterations, 5000);
        assert!(alone.tours == 5000 && alone.cost == instance.check_tour(&alone.tour).unwrap());
        for runs in [2, 3] {
            let all = solve(&instance, &stop, runs, None);
            assert_eq!(all.iter().map(|solution| solution.tours).sum::<u64>(), 5000);
            for solution in all {
                assert_eq!((solution.cost, &solution.tour), (alone.cost, &alone.tour), "{runs} runs");
                assert_eq!(solution.iterations, 5000);
                // Each of them makes a part.
                assert!((1..5000).contains(&solution.tours), "{} of {runs} runs", solution.tours);
            }
        }
        // One that is over before it began does not hold the others up, who make as many kicks without it.
        let all = solve(&instance, &stop, 3, Some(1));
        assert_eq!((all[0].iterations, all[1].iterations), (5000, 0));
        assert!(all[0].cost == instance.check_tour(&all[0].tour).unwrap() && all[0].tour == all[2].tour);
    }

    #[test]
    fn what_runs_tell_comes_back_as_it_was() {
        let force = Force { seed: u64::MAX, kicks: 0.1, threads: 3, chains: 1, trials: 1 << 20 };
        assert_eq!(Force::of(&force.to_bytes()), Some(force));
        assert!((0..40).all(|length| Force::of(&force.to_bytes()[..length]).is_none()));
        let found = Found { made: 4, words: vec![1, 2, u32::MAX] };
        let told = Told { progress: 0.25, seconds: 1e-3, found };
        assert_eq!(Told::of(&told.to_bytes()), Some(told));
        assert_eq!(Told::of(&[0; 11]), None);
    }

    #[test]
    fn faster_runs_make_more_of_the_trials() {
        let post = Post::in_step(1, 3);
        let lockstep = post.lockstep().unwrap();
        let speed = |trials: f64| Some(Speed { trials, seconds: 1.0 });
        let part = |speeds| Partners { post: &post, lockstep, speeds, progress: 0.0 }.part(1000);
        assert_eq!(part(vec![speed(1.0), speed(1.0), None]), 500..1000);
        assert_eq!(part(vec![speed(1.0), speed(3.0), speed(1.0)]), 200..800);
        assert_eq!(part(vec![speed(1e12), speed(1.0), None]), 995..1000);
        let mut speed = Speed { trials: 1e4, seconds: 1.0 };
        (0..200).for_each(|_| speed.note(10, 0.1));
        assert!((speed.rate() - 100.0).abs() < 2.0, "{}", speed.rate());
    }
}
