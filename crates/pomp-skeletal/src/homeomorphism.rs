//! Which limb of one skeleton is which of the other.

use crate::SkeletalError;
use crate::structure::Structure;
use crate::tree::Chain;

/// Most branches of a joint that are tried in every order.
const MOST_BRANCHES: usize = 7;

/// Chains of two structures side by side.
struct Pairing<'a> {
    structures: [&'a Structure; 2],
    chains: [Vec<Chain>; 2],
}

/// A pairing of the chains at and below two chains, with its cost.
type Found = Result<(f32, Vec<(usize, usize)>), String>;

/// Puts the chains of `b` in the order of those of `a`: the primal skeleton is one. Of several ways to match branches, that is taken
/// whose ends are nearest to each other on average.
///
/// # Errors
/// [`SkeletalError::NotHomeomorphic`] names the joints that branch otherwise.
pub fn match_structures(a: &mut Structure, b: &mut Structure) -> Result<(), SkeletalError> {
    let pairing = Pairing { structures: [a, b], chains: [a.chains(), b.chains()] };
    let (_, mut pairs) = pairing.matched(0, 0).map_err(|reason| SkeletalError::NotHomeomorphic { reason })?;
    pairs.sort_unstable();
    (a.order, b.order) = pairs.into_iter().unzip();
    Ok(())
}

impl Pairing<'_> {
    fn below(&self, side: usize, chain: usize) -> Vec<usize> {
        let chains = &self.chains[side];
        (0..chains.len()).filter(|&other| chains[other].parent == Some(chain)).collect()
    }

    fn end(&self, side: usize, chain: usize) -> &str {
        let joint = *self.chains[side][chain].joints.last().expect("a chain has joints");
        &self.structures[side].joints[joint]
    }

    fn distance(&self, a: usize, b: usize) -> f32 {
        self.structures[0].chain_ends[a].distance_squared(self.structures[1].chain_ends[b])
    }

    fn matched(&self, a: usize, b: usize) -> Found {
        let (of_a, of_b) = (self.below(0, a), self.below(1, b));
        if of_a.len() != of_b.len() || of_a.len() > MOST_BRANCHES {
            return Err(format!(
                "\"{}\" of a has {} branches, \"{}\" of b {}{}",
                self.end(0, a),
                of_a.len(),
                self.end(1, b),
                of_b.len(),
                if of_a.len() > MOST_BRANCHES { ", and more than 7 are not matched" } else { "" }
            ));
        }
        let table: Vec<Vec<Found>> =
            of_a.iter().map(|&a| of_b.iter().map(|&b| self.matched(a, b)).collect()).collect();
        let mut best: Option<(f32, Vec<usize>)> = None;
        // Where no order fits, the one whose ends are nearest tells what is wrong.
        let mut nearest: Option<(f32, Vec<usize>)> = None;
        for order in orders(of_b.len()) {
            let apart = |i: usize| self.distance(of_a[i], of_b[order[i]]);
            let near: f32 = (0..order.len()).map(apart).sum();
            if nearest.as_ref().is_none_or(|(least, _)| near < *least) {
                nearest = Some((near, order.clone()));
            }
            let costs: Option<f32> =
                (0..order.len()).map(|i| Some(table[i][order[i]].as_ref().ok()?.0)).sum();
            if let Some(cost) = costs.filter(|cost| best.as_ref().is_none_or(|(least, _)| cost < least)) {
                best = Some((cost, order));
            }
        }
        let order = best.or(nearest).expect("there is an order").1;
        let (mut cost, mut pairs) = (self.distance(a, b), vec![(a, b)]);
        for (row, column) in table.iter().zip(order) {
            let (below, found) = row[column].clone()?;
            cost += below;
            pairs.extend(found);
        }
        Ok((cost, pairs))
    }
}

/// All orders of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let insert = |order: Vec<usize>| {
        (0..count).map(move |at| {
            let mut longer = order.clone();
            longer.insert(at, last);
            longer
        })
    };
    orders(last).into_iter().flat_map(insert).collect()
}
