//! Whether an answer is the one that its request must get.

use crate::cases::{Answer, Case, EVENTS, REDIS, sorry};

/// The head of an answer, as far as it tells something.
#[derive(Clone, Debug, Default)]
pub struct Head {
    pub status: u16,
    /// `X-Number`, put there by the configuration.
    pub number: Option<u64>,
    /// `X-Worker`: the pid of the worker.
    pub worker: Option<u32>,
}

/// What an answer is that is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Right,
    /// Right where Redis cannot be asked, and nowhere else.
    WithoutRedis,
}

/// An answer so far: its head, what has come of its body, and whether that is all. `Err` says what is wrong.
pub fn judge(case: &Case, head: &Head, body: &[u8], whole: bool) -> Result<Verdict, String> {
    if head.number != Some(case.number) {
        return Err(format!("it is answered as {:?}", head.number));
    }
    if head.worker.is_none() {
        return Err("no worker has signed it".to_owned());
    }
    let without_redis = case.handler == REDIS && head.status == 502;
    let sorry = Answer::Exactly(sorry(case.number).into_bytes());
    let (status, answer) = match without_redis {
        true => (502, &sorry),
        false => (case.status, &case.answer),
    };
    let (Answer::Exactly(expected) | Answer::Begins(expected)) = answer;
    if head.status != status {
        return Err(format!("{} and not {status}", head.status));
    }
    let same = body
        .iter()
        .zip(expected)
        .take_while(|(a, b)| a == b)
        .count();
    let too_long = matches!(answer, Answer::Exactly(_)) && body.len() > expected.len();
    if same < body.len().min(expected.len()) || too_long {
        let from = |bytes: &[u8]| {
            let some: Vec<u8> = bytes
                .iter()
                .skip(same.saturating_sub(20))
                .take(60)
                .copied()
                .collect();
            some.escape_ascii().to_string()
        };
        return Err(format!(
            "byte {same} is wrong: \"{}\" and not \"{}\"",
            from(body),
            from(expected)
        ));
    }
    if whole && body.len() < expected.len() {
        return Err(format!("{} bytes and not {}", body.len(), expected.len()));
    }
    Ok(match without_redis {
        true => Verdict::WithoutRedis,
        false => Verdict::Right,
    })
}

/// Whether a client that has so much needs no more, as there is no end to wait for.
pub fn is_enough(case: &Case, body: &[u8]) -> bool {
    let (Answer::Exactly(expected) | Answer::Begins(expected)) = &case.answer;
    case.handler == EVENTS && body.len() >= expected.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(handler: &'static str, answer: Answer) -> Case {
        Case {
            handler,
            number: 7,
            target: "/x".into(),
            body: None,
            status: 200,
            answer,
        }
    }

    fn head(status: u16, number: u64) -> Head {
        Head {
            status,
            number: Some(number),
            worker: Some(1),
        }
    }

    #[test]
    fn only_the_right_answer_to_this_request_is_right() {
        let case = case("greet", Answer::Exactly(b"hi 7\n".to_vec()));
        assert_eq!(
            judge(&case, &head(200, 7), b"hi 7\n", true),
            Ok(Verdict::Right)
        );
        assert_eq!(
            judge(&case, &head(200, 7), b"hi", false),
            Ok(Verdict::Right)
        );
        let wrong = |head: &Head, body: &[u8], whole| judge(&case, head, body, whole).unwrap_err();
        assert_eq!(
            wrong(&head(200, 8), b"hi 7\n", true),
            "it is answered as Some(8)"
        );
        assert_eq!(wrong(&head(502, 7), b"hi 7\n", true), "502 and not 200");
        assert_eq!(
            wrong(&head(200, 7), b"hi 8", false),
            "byte 3 is wrong: \"hi 8\" and not \"hi 7\\n\""
        );
        assert!(wrong(&head(200, 7), b"hi 7\n\n", false).contains("byte 5 is wrong"));
        assert_eq!(wrong(&head(200, 7), b"hi", true), "2 bytes and not 5");
        let unsigned = Head {
            worker: None,
            ..head(200, 7)
        };
        assert!(wrong(&unsigned, b"hi 7\n", true).contains("no worker"));
    }

    #[test]
    fn what_redis_cannot_count_is_told_apart() {
        let case = case(REDIS, Answer::Exactly(b"1\n".to_vec()));
        assert_eq!(
            judge(&case, &head(200, 7), b"1\n", true),
            Ok(Verdict::Right)
        );
        assert_eq!(
            judge(&case, &head(502, 7), b"sorry 7\n", true),
            Ok(Verdict::WithoutRedis)
        );
        assert!(judge(&case, &head(502, 7), b"sorry 8\n", true).is_err());
        // It has been counted twice.
        assert!(judge(&case, &head(200, 7), b"2\n", true).is_err());
    }

    #[test]
    fn ticks_are_in_order_and_have_no_end() {
        let three = b"event: tick\ndata: 0\n\nevent: tick\ndata: 1\n\nevent: tick\n";
        let two = three[..2 * "event: tick\ndata: 0\n\n".len()].to_vec();
        let case = case(EVENTS, Answer::Begins(two));
        assert_eq!(
            judge(&case, &head(200, 7), three, false),
            Ok(Verdict::Right)
        );
        assert!(is_enough(&case, three) && !is_enough(&case, &three[..30]));
        assert!(judge(&case, &head(200, 7), b"event: tick\ndata: 1", false).is_err());
        assert!(
            judge(&case, &head(200, 7), b"event: tick\n", true).is_err(),
            "it has ended by itself"
        );
    }
}
