//! Detects whether this process was started as one of several.

/// The place of a process among those started together with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Its number, from 0.
    pub rank: u32,
    /// The number of processes, at least 2.
    pub size: u32,
}

/// The names of variables that launchers set for number and count: `mpirun` of Open MPI, `mpirun` of MPICH and `srun --mpi=pmi2`,
/// `srun --mpi=pmix`. `SLURM_NTASKS` alone means nothing: it is also set in a script that runs once.
const NAMES: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),
];

/// Returns the place of this process; `None` if it was started alone.
pub fn launched() -> Option<Launched> {
    by_names(&|name| std::env::var(name).ok()?.parse().ok())
}

fn by_names(value: &dyn Fn(&str) -> Option<u32>) -> Option<Launched> {
    let found =
        NAMES.iter().find_map(|(rank, size)| Some(Launched { rank: value(rank)?, size: value(size)? }));
    found.filter(|place| place.size > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_name_the_place_differently() {
        let of = |given: &[(&str, u32)]| {
            by_names(&|name| given.iter().find(|(other, _)| *other == name).map(|&(_, value)| value))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_RANK", 0), ("OMPI_COMM_WORLD_SIZE", 1)]), None);
        assert_eq!(of(&[("PMI_RANK", 2), ("PMI_SIZE", 3)]), Some(Launched { rank: 2, size: 3 }));
        let slurm = [("PMIX_RANK", 0), ("SLURM_STEP_NUM_TASKS", 2), ("SLURM_NTASKS", 9)];
        assert_eq!(of(&slurm), Some(Launched { rank: 0, size: 2 }));
        assert_eq!(of(&[("SLURM_PROCID", 0), ("SLURM_NTASKS", 9)]), None);
    }
}
