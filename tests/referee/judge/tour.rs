//! Tour files of TSPLIB 95, and bare lists of nodes.

use super::tsplib::lines;

/// The nodes of a tour, by the numbers of the instance's file.
///
/// # Panics
/// If something that is no number stands in it.
pub fn read(text: &str) -> Vec<i64> {
    let lines = lines(text);
    let is_begin = |line: &String| line.to_uppercase().starts_with("TOUR_SECTION");
    let begin = lines.iter().position(is_begin).map_or(0, |at| at + 1);
    let words = lines[begin..].iter().flat_map(|line| line.split_whitespace());
    let numbers = words.take_while(|&word| word != "EOF" && word != "-1");
    numbers.map(|word| word.parse::<f64>().unwrap_or_else(|_| panic!("{word}")) as i64).collect()
}
