use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

/// Cards that are kept; each has some 15 KB.
const MOST: usize = 2000;

/// Cards of the library that have been made, by its numbers; the oldest go first when there are too many.
#[derive(Debug, Default)]
pub(super) struct Cards {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    cards: HashMap<usize, Arc<String>>,
    order: VecDeque<usize>,
}

impl Cards {
    /// The card of a number, if it has been made.
    pub fn get(&self, number: usize) -> Option<Arc<String>> {
        self.kept.lock().expect("nothing panics while it holds this lock").cards.get(&number).cloned()
    }

    /// Keeps a card.
    pub fn put(&self, number: usize, card: String) -> Arc<String> {
        let card = Arc::new(card);
        let mut kept = self.kept.lock().expect("nothing panics while it holds this lock");
        if kept.cards.insert(number, Arc::clone(&card)).is_none() {
            kept.order.push_back(number);
        }
        if kept.order.len() > MOST
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.cards.remove(&oldest);
        }
        card
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_cards_are_kept_and_no_more_than_fit() {
        let cards = Cards::default();
        for number in 0..MOST + 5 {
            cards.put(number, number.to_string());
            cards.put(number, number.to_string());
        }
        assert!(cards.get(4).is_none());
        assert_eq!(cards.get(5).unwrap().as_str(), "5");
        assert_eq!(cards.kept.lock().unwrap().cards.len(), MOST);
    }
}
