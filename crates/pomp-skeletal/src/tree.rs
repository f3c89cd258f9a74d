//! The tree of a skeleton, and how it is pooled to the primal skeleton.

use pomp_motion::{JointIndex, Skeleton};
use std::collections::VecDeque;

/// Levels of a [`SkeletalTree`]: the skeleton itself, pairs of joints, and the primal skeleton.
pub const LEVELS: usize = 3;

/// A run of joints without a branch: its last joint branches or is the end of a limb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Its joints from the top down.
    pub joints: Vec<usize>,
    /// The chain whose last joint it hangs from; none for that of the root.
    pub parent: Option<usize>,
}

/// The chains of a skeleton, that of the root first, parents before children: the nodes of the primal skeleton.
///
/// The chain of the root goes down to the first joint that branches. Joints with one child make no difference to it, so skeletons
/// that differ by such joints alone have the same chains (Aberman et al. 2020, skeletal pooling).
pub fn chains(skeleton: &Skeleton) -> Vec<Chain> {
    let children: Vec<Vec<usize>> = (0..skeleton.len())
        .map(|joint| {
            let is_child = |other: &usize| skeleton.parent(JointIndex(*other)) == Some(JointIndex(joint));
            (0..skeleton.len()).filter(is_child).collect()
        })
        .collect();
    let mut found: Vec<Chain> = Vec::new();
    let mut open = VecDeque::from([(0, None)]);
    while let Some((first, parent)) = open.pop_front() {
        let mut joints = vec![first];
        while let [only] = children[joints[joints.len() - 1]][..] {
            joints.push(only);
        }
        let index = found.len();
        open.extend(children[joints[joints.len() - 1]].iter().map(|&child| (child, Some(index))));
        found.push(Chain { joints, parent });
    }
    found
}

/// Nodes of one level: which nodes of the level below each is made of, and how far they are from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Per node the nodes of the level below; joints plus 1 at the lowest, where 0 is the motion of the root.
    pub members: Vec<Vec<usize>>,
    /// Steps between every two nodes along the tree.
    distances: Vec<Vec<usize>>,
}

impl Level {
    /// Nodes.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Never true: there is the motion of the root.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether two nodes are at most `reach` steps apart.
    pub fn are_near(&self, a: usize, b: usize, reach: usize) -> bool {
        self.distances[a][b] <= reach
    }
}

/// A skeleton with the motion of its root as a graph, at three levels. Node 0 of each is the motion of the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkeletalTree {
    /// The levels from the skeleton to the primal skeleton.
    pub levels: [Level; LEVELS],
}

impl SkeletalTree {
    /// The tree of a skeleton of so many joints, whose primal nodes follow each other as `order` lists its chains.
    pub fn new(joints: usize, chains: &[Chain], order: &[usize]) -> Self {
        let place =
            |chain: usize| order.iter().position(|&c| c == chain).expect("the order lists all chains");
        // Runs of nodes of the level below, chain by chain in their order.
        let mut runs: Vec<Vec<usize>> =
            order.iter().map(|&chain| chains[chain].joints.iter().map(|joint| joint + 1).collect()).collect();
        let parents: Vec<Option<usize>> =
            order.iter().map(|&chain| chains[chain].parent.map(place)).collect();
        let own = (0..=joints).map(|node| vec![node]).collect();
        let skin = Level { members: own, distances: distances(&runs, &parents) };
        let mut pooled = |size: usize| {
            let mut members = vec![vec![0]];
            for run in &mut runs {
                let groups = groups(run, size);
                *run = (members.len()..members.len() + groups.len()).collect();
                members.extend(groups);
            }
            Level { distances: distances(&runs, &parents), members }
        };
        let pairs = pooled(2);
        let primal = pooled(usize::MAX);
        Self { levels: [skin, pairs, primal] }
    }
}

/// Successive nodes of a run, `size` by `size`; where they do not come out even, the first is alone.
fn groups(run: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size >= run.len() {
        return vec![run.to_vec()];
    }
    let (first, rest) = run.split_at(run.len() % size);
    let first = (!first.is_empty()).then(|| first.to_vec());
    first.into_iter().chain(rest.chunks(size).map(<[usize]>::to_vec)).collect()
}

/// Steps between all nodes: along runs, from a run's first node to the last of its parent, from the motion of the root to the root.
fn distances(runs: &[Vec<usize>], parents: &[Option<usize>]) -> Vec<Vec<usize>> {
    let nodes = 1 + runs.iter().map(Vec::len).sum::<usize>();
    let mut edges = vec![Vec::new(); nodes];
    let mut join = |a: usize, b: usize| {
        edges[a].push(b);
        edges[b].push(a);
    };
    for (run, parent) in runs.iter().zip(parents) {
        let above = parent.map_or(0, |parent| *runs[parent].last().expect("a chain has joints"));
        join(above, run[0]);
        run.windows(2).for_each(|pair| join(pair[0], pair[1]));
    }
    (0..nodes)
        .map(|from| {
            let mut steps = vec![usize::MAX; nodes];
            steps[from] = 0;
            let mut open = VecDeque::from([from]);
            while let Some(node) = open.pop_front() {
                for &next in &edges[node] {
                    if steps[next] == usize::MAX {
                        steps[next] = steps[node] + 1;
                        open.push_back(next);
                    }
                }
            }
            steps
        })
        .collect()
}
