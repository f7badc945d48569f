//! Whistled commands in sound that comes in: signed bytes, 4000 a second, on standard input.
use std::io::{self, Read};

const SAMPLES: usize = 64;
const HOP: usize = 8 * SAMPLES;
const COMMANDS: &str = include_str!("../../whistle/labels.txt");

fn command(net: &mut whistle::Whistle, window: &whistle::Input0) -> Result<usize, whistle::Status> {
    let scores = net.run(window)?;
    Ok((0..scores.len()).max_by_key(|&i| (scores[i], usize::MAX - i)).unwrap_or(0))
}

fn main() -> io::Result<()> {
    let mut arena = whistle::Arena::new();
    let mut net = whistle::Whistle::new(&mut arena).map_err(failed)?;
    let mut sound = io::stdin().lock();
    let mut window: whistle::Input0 = [0; whistle::INPUT0_LEN];
    let mut heard = [0u8; HOP];
    let (mut before, mut told) = (0, 0);
    while sound.read_exact(&mut heard).is_ok() {
        window.copy_within(HOP.., 0);
        let fresh = whistle::INPUT0_LEN - HOP;
        window[fresh..].iter_mut().zip(heard).for_each(|(to, from)| *to = from as i8);
        let now = command(&mut net, &window).map_err(failed)?;
        if now == before && now != told {
            told = now;
            if now != 0 {
                println!("{}", COMMANDS.lines().nth(now).unwrap_or("?"));
            }
        }
        before = now;
    }
    Ok(())
}

fn failed(status: whistle::Status) -> io::Error {
    io::Error::new(io::ErrorKind::Other, format!("{:?}", status))
}
