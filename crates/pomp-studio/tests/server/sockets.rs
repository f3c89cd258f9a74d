//! The WebSocket as browsers and attackers use it.

use crate::client::{Page, masked};
use crate::started;
use pomp_studio::protocol::{FromPage, MAX_MESSAGE_BYTES};
use pomp_studio::{Started, StudioConfig};
use std::time::{Duration, Instant};

#[test]
fn both_sides_answer_each_others_pings() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut page = Page::open(address);
    page.next_of("scene");
    assert!(page.send_frame(0x89, b"are you there?"));
    let pong = loop {
        if let (0x8a, payload) = page.next_frame().unwrap() {
            break payload;
        }
    };
    assert_eq!(pong, b"are you there?");
    let began = Instant::now();
    let mut pings = 0;
    while pings < 2 {
        if let (0x89, payload) = page.next_frame().unwrap() {
            assert!(page.send_frame(0x8a, &payload));
            pings += 1;
        }
        assert!(began.elapsed() < Duration::from_secs(40), "the server pings its pages");
    }
}

#[test]
fn a_page_that_answers_no_ping_is_given_up() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut page = Page::open(address);
    page.next_of("scene");
    let began = Instant::now();
    // It reads all the while: only the answers are missing.
    assert!(page.is_hung_up_on());
    assert!(began.elapsed() > Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn messages_are_put_together_from_their_pieces_with_a_ping_in_between() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut page = Page::open(address);
    let epoch = page.next_of("scene")["epoch"].as_u64().unwrap();
    let bytes = FromPage::Reset { scene: None }.to_bytes();
    let (one, rest) = bytes.split_at(2);
    let (two, three) = rest.split_at(1);
    assert!(page.send_frame(0x02, one) && page.send_frame(0x89, b"?"));
    assert!(page.send_frame(0x00, two) && page.send_frame(0x80, three));
    assert_eq!(page.next_of("scene")["epoch"], epoch + 1);
}

#[test]
fn rejects_what_breaks_the_websocket_protocol() {
    let Started { address, .. } = started(StudioConfig { max_worlds: 16, ..StudioConfig::default() });
    let half = vec![0; MAX_MESSAGE_BYTES / 2 + 1];
    for (what, bytes) in [
        ("it is not masked", vec![0x82, 0x01, 0x00]),
        ("it uses extensions that were not agreed on", masked(0xC2, b"x")),
        ("it goes on with a message that has not begun", masked(0x80, b"x")),
        ("there is no such kind of frame", masked(0x83, b"x")),
        ("the ping is too long", masked(0x89, &[0; 126])),
        ("the ping is in pieces", masked(0x09, b"x")),
        ("a message begins within another", [masked(0x02, b"a"), masked(0x82, b"b")].concat()),
        ("it says that it is huge", [&[0x82, 0xff][..], &(u64::MAX >> 1).to_be_bytes(), &[0; 4]].concat()),
        ("it grows too long", [masked(0x02, &half), masked(0x80, &half)].concat()),
        ("the text is no UTF-8", masked(0x81, b"\xff\xfe")),
    ] {
        let mut page = Page::open(address);
        page.next_of("scene");
        // The server may hang up before it has heard everything.
        let _sent = page.send_raw(&bytes);
        assert!(page.is_hung_up_on(), "{what}");
    }
    let mut page = Page::open(address);
    page.next_of("frame");
}

#[test]
fn what_is_wrong_with_a_message_is_said_and_too_many_of_them_end_the_connection() {
    let Started { address, .. } = started(StudioConfig::default());
    let mut page = Page::open(address);
    page.next_of("scene");
    assert!(page.send(b"{\"do\":\"pause\"}"));
    let notice = page.next_of("notice");
    assert!(notice["level"] == "warning" && notice["text"].as_str().unwrap().contains("message of the page"));
    assert!(page.tell(&FromPage::Pace { factor: 9.0 }));
    let notice = page.next_of("notice");
    assert!(notice["text"].as_str().unwrap().contains("pace = 9 is outside 0.05 to 1"), "{notice}");
    for _ in 0..60 {
        if !page.send(&[99]) {
            break;
        }
    }
    assert!(page.is_hung_up_on());
}
