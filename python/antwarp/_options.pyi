"""The options of `antwarp.solve`. Written by python/tests/options_stub.py."""

from collections.abc import Sequence
from typing import Literal, TypedDict

class Options(TypedDict, total=False):
    time: float | None
    iterations: int | None
    stagnation: int | None
    target: float | None
    algorithm: str | None
    backend: str | None
    gpus: str | int | Sequence[int] | None
    threads: int | None
    prove: bool | None
    bound: bool | None
    shape: str | None
    columns: str | None
    decimal: str | None
    no_header: bool | None
    degrees: bool | None
    directed: bool | None
    forbidden_from: float | None
    unrounded: bool | None
    weight: str | None

    # lk, ils, mmas, acs, ga: Seed of all random numbers: with a number of iterations, it determines the tour [default: 1]
    seed: int | None

    # lk, ils, mmas, acs, ga: Neighbours in a node's list [default: 8]
    neighbors: int | None

    # lk, ils: Which neighbours a list holds [default: quadrant]
    neighbor_lists: Literal["nearest", "quadrant"] | None

    # lk, ils: The start tour, unless a tour is read from a file [default: greedy, on lattices quick-boruvka]
    first_tour: Literal["nearest-neighbor", "greedy", "quick-boruvka", "space-filling", "random"] | None

    # lk, ils: Steps of the random walks that lead from a kick's first edge to the others [default: 20; 40 after one kick per node, 80 after 16; always 80 on lattices]
    walk: int | None

    # lk, ils: Temperature at the start of annealing [default: 0.7]
    temperature: float | None

    # lk, ils: Tours that are worked on at the same time [default: by the number of nodes]
    chains: int | None

    # lk, ils: Kicks of each tour in a round, whose changes are merged at its end [default: by the number of nodes]
    trials: int | None

    # lk, ils: Stop at the first local optimum, without kicks [default: false]
    descent_only: bool | None

    # ils, mmas, acs, ga: The operator that improves tours [default: three-opt]
    local_search: Literal["none", "two-opt", "or-opt", "or-2opt", "three-opt", "or-3opt", "lk"] | None

    # ils, mmas, acs, ga: Neighbours evaluated in the second step of a move [default: 5]
    breadth: int | None

    # ils: Longest segment of a kick's double bridge; 0: four edges anywhere [default: 50]
    segment: int | None

    # ils: When a new tour replaces the current one [default: annealing]
    accept: Literal["better", "better-or-equal", "always", "annealing"] | None

    # ils: Which improving move is made: the best around a node, at many places at the same time, or the best of the whole tour [default: first]
    improvement: Literal["first", "best"] | None

    # ils: How many moves are made at a time [default: many]
    moves: Literal["many", "one"] | None

    # mmas, acs: Ants: tours per iteration [default: by the number of nodes and the backend; 16 with `local_search` lk]
    ants: int | None

    # mmas, acs: Candidates of a node: its nearest ones, or all nodes [default: 32]
    candidates: int | Literal["all"] | None

    # mmas, acs: Exponent of the pheromone trail [default: 1.0]
    alpha: float | None

    # mmas, acs: Exponent of the heuristic value, 1 / distance [default: 2.0]
    beta: float | None

    # mmas, acs: Share of a trail that stays when it evaporates [default: 0.3 with `local_search` lk, 0.9 without]
    rho: float | None

    # mmas: Probability of building the best tour once the colony has converged [default: 0.01]
    p_best: float | None

    # mmas: How an ant chooses its next node [default: wrs]
    selection: Literal["wrs", "rwm"] | None

    # mmas: How an ant remembers visited nodes [default: bitmask]
    tabu: Literal["list", "compact", "bitmask"] | None

    # mmas: Warps per ant on a GPU without candidate lists [default: measured in the first iterations]
    warps: int | None

    # mmas: Which tour deposits pheromone [default: restart with `local_search` lk, mixed with other local search, iteration without]
    deposit: Literal["iteration", "best", "restart", "mixed"] | None

    # mmas, acs: Reset the trails after this many iterations without a better tour since the last reset; 0: never [default: 5 with `local_search` lk, 500 with other local search, 0 without]
    reset_after: int | None

    # acs: Probability of taking the best edge [default: (n - 20) / n]
    q0: float | None

    # acs: Update every N-th edge that an ant takes; 0: none [default: 1; 4 from 5,000 nodes on, without local search and with a selective memory that stores all edges]
    update_period: int | None

    # acs: Which edges have a pheromone trail [default: selective]
    pheromone: Literal["matrix", "candidate", "selective"] | None

    # acs: Edges that the pheromone memory stores per node [default: 8]
    slots: int | None

    # acs: Which edges the pheromone memory stores [default: best on CPU threads, taken on a GPU]
    remember: Literal["best", "taken"] | None

    # acs: What a greedy step chooses among [default: remembered]
    greedy: Literal["candidates", "remembered"] | None

    # acs: How ants build tours, and how their trail updates interact [default: relaxed]
    update: Literal["sequential", "atomic", "relaxed"] | None

    # ga: How children are made from their parents [default: hybrid]
    crossover: Literal["scx", "bcscx", "arx", "hybrid", "eax"] | None

    # ga: Tours of the population, a multiple of 4 times `groups`; with `crossover` eax, a multiple of `groups` [default: 2048, with `crossover` eax 300; those of a loaded population]
    population: int | None

    # ga: Groups that evolve on their own [default: 8]
    groups: int | None

    # ga: Generations between transfers of each group's best tour to another group; 0: never [default: 20]
    transfer_every: int | None

    # ga: Children of a pair evaluated at a time, of which the best one is made [default: 30]
    children: int | None

    # ga: Share of the children that mutate [default: 0.1]
    mutation: float | None

    # ga: Rivals and partners: always at the same places, or drawn again for every generation [default: shuffled]
    pairing: Literal["fixed", "shuffled"] | None

    # ga: Partners of a winner: one, or in a ring the winners before and after it, with one child per pair [default: pairs]
    partners: Literal["pairs", "ring"] | None

    # ga: Improve each group's best tour a little in each generation, where distances are symmetric [default: true]
    improve_best: bool | None

    # ga: How the first tours are made [default: random]
    initial: Literal["random", "local-optima", "space-filling", "ants"] | None
