//! Roles of columns by their names.

use crate::error::{InstanceError, Result, Text, printable};

/// The role of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    X,
    Y,
    Z,
    Lat,
    Lon,
    Name,
    Id,
    From,
    To,
    Cost,
}

impl Role {
    /// Parses the name of a role in `--columns`.
    pub(super) fn from_option(name: &str) -> Option<Role> {
        Some(match name.to_ascii_lowercase().as_str() {
            "x" => Role::X,
            "y" => Role::Y,
            "z" => Role::Z,
            "lat" | "latitude" => Role::Lat,
            "lon" | "lng" | "longitude" => Role::Lon,
            "name" => Role::Name,
            "id" => Role::Id,
            "from" => Role::From,
            "to" => Role::To,
            "cost" => Role::Cost,
            _ => return None,
        })
    }

    /// Returns the word for this role in messages.
    pub(super) fn word(self) -> &'static str {
        match self {
            Role::X => "x",
            Role::Y => "y",
            Role::Z => "z",
            Role::Lat => "latitude",
            Role::Lon => "longitude",
            Role::Name => "names",
            Role::Id => "ids",
            Role::From => "from",
            Role::To => "to",
            Role::Cost => "cost",
        }
    }

    /// Complete names with this role, the most specific first.
    fn whole(self) -> &'static [&'static str] {
        match self {
            Role::X => &[
                "x",
                "xcoord",
                "xcoords",
                "xcoordinate",
                "coordx",
                "xpos",
                "posx",
                "xloc",
                "locx",
                "xm",
                "xkm",
                "easting",
                "eastings",
                "east",
                "rechtswert",
                "utmx",
                "utme",
                "xkoordinate",
                "pointx",
                "px",
                "xc",
                "ostwert",
                "este",
                "e",
            ],
            Role::Y => &[
                "y",
                "ycoord",
                "ycoords",
                "ycoordinate",
                "coordy",
                "ypos",
                "posy",
                "yloc",
                "locy",
                "ym",
                "ykm",
                "northing",
                "northings",
                "north",
                "hochwert",
                "utmy",
                "utmn",
                "ykoordinate",
                "pointy",
                "py",
                "yc",
                "nordwert",
                "norte",
                "n",
            ],
            Role::Z => &[
                "z",
                "zcoord",
                "zcoords",
                "zcoordinate",
                "coordz",
                "zpos",
                "posz",
                "zloc",
                "zm",
                "zkm",
                "utmz",
                "pointz",
                "pz",
                "zc",
            ],
            Role::Lat => &[
                "lat",
                "latitude",
                "breitengrad",
                "latitud",
                "latitudine",
                "geolat",
                "gpslat",
                "gpslatitude",
                "latdeg",
                "stoplat",
                "latdd",
                "breite",
                "geobreite",
                "breedtegraad",
                "szerokość",
                "szerokośćgeograficzna",
                "šířka",
                "enlem",
                "широта",
                "纬度",
                "緯度",
            ],
            Role::Lon => &[
                "lon",
                "lng",
                "long",
                "longitude",
                "laengengrad",
                "längengrad",
                "longitud",
                "longitudine",
                "geolon",
                "geolng",
                "gpslon",
                "gpslongitude",
                "gpslong",
                "londeg",
                "longdeg",
                "stoplon",
                "lngdeg",
                "londd",
                "länge",
                "geolänge",
                "geolaenge",
                "laenge",
                "lengtegraad",
                "długość",
                "długośćgeograficzna",
                "délka",
                "boylam",
                "долгота",
                "经度",
                "経度",
            ],
            // See `naming`.
            Role::Name => &[],
            Role::Id => &[
                "id",
                "#",
                "no",
                "nr",
                "num",
                "number",
                "index",
                "idx",
                "key",
                "code",
                "fid",
                "gid",
                "uid",
                "oid",
                "objectid",
                "osmid",
                "nodeid",
                "stopid",
                "cityid",
                "pointid",
                "placeid",
                "locationid",
                "customerid",
                "nodeno",
                "unnamed0",
                "i",
                "n",
                "",
            ],
            Role::From => &[
                "from", "source", "origin", "orig", "start", "src", "fromnode", "fromid", "sourceid",
                "originid", "startvid", "startid", "node1", "i", "u", "von", "start", "var1", "level0",
                "city1",
            ],
            Role::To => &[
                "to",
                "target",
                "destination",
                "dest",
                "end",
                "dst",
                "tonode",
                "toid",
                "targetid",
                "destinationid",
                "endvid",
                "endid",
                "node2",
                "var2",
                "level1",
                "city2",
                "j",
                "v",
                "nach",
                "ziel",
            ],
            Role::Cost => &[
                "cost",
                "costs",
                "aggcost",
                "distance",
                "dist",
                "weight",
                "length",
                "len",
                "duration",
                "time",
                "traveltime",
                "w",
                "d",
                "value",
                "km",
                "metres",
                "meters",
                "miles",
                "minutes",
                "seconds",
                "min",
                "mins",
                "hours",
            ],
        }
    }

    /// Words that indicate this role as part of a name: `stop_lat`, `X (m)`.
    fn part(self) -> &'static [&'static str] {
        match self {
            Role::X => &["x", "easting"],
            Role::Y => &["y", "northing"],
            Role::Z => &["z"],
            Role::Lat => &["lat", "latitude"],
            Role::Lon => &["lon", "lng", "long", "longitude"],
            Role::Name => &[],
            Role::Id => &["id", "nr", "no", "number"],
            Role::From => &["from", "source", "origin"],
            Role::To => &["to", "target", "destination"],
            Role::Cost => &["cost", "distance", "dist", "duration", "length", "weight", "time"],
        }
    }
}

/// Finds the column with this role by its name. For ids see [`ids`], for names `naming`.
///
/// # Errors
/// If several columns have the role.
pub(super) fn column(text: Text<'_>, names: &[String], role: Role) -> Result<Option<usize>> {
    let normal: Vec<String> = names.iter().map(|name| normal(name)).collect();
    for word in role.whole() {
        let is_it = |name: &&String| *name == word;
        match normal.iter().filter(is_it).count() {
            0 => {}
            1 => return Ok(normal.iter().position(|name| name == word)),
            _ => return Err(several(text, names, role, |at| normal[at] == *word)),
        }
    }
    let has =
        |name: &String, role: Role| tokens(name).iter().any(|word| role.part().contains(&word.as_str()));
    // `from/to` is the corner of a matrix.
    let is_corner = |name: &String| has(name, Role::From) && has(name, Role::To);
    let has_part = |name: &String| has(name, role) && !is_corner(name);
    match names.iter().filter(|name| has_part(name)).count() {
        0 => Ok(None),
        1 => Ok(names.iter().position(has_part)),
        _ => Err(several(text, names, role, |at| has_part(&names[at]))),
    }
}

/// Lists the columns whose names are those of ids, the most specific first.
pub(super) fn ids(names: &[String]) -> Vec<usize> {
    let normal: Vec<String> = names.iter().map(|name| normal(name)).collect();
    // An unnamed column is an index unless there are several.
    let is_index =
        |at: usize| !normal[at].is_empty() || normal.iter().filter(|name| name.is_empty()).count() == 1;
    let has_part = |at: usize| tokens(&names[at]).iter().any(|word| Role::Id.part().contains(&word.as_str()));
    let rank = |at: usize| {
        let whole = Role::Id.whole().iter().position(|word| *word == normal[at]);
        whole.filter(|_| is_index(at)).or(has_part(at).then_some(usize::MAX))
    };
    let mut found: Vec<(usize, usize)> = (0..names.len()).filter_map(|at| Some((rank(at)?, at))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, at)| at).collect()
}

/// Returns whether the first two names are those of the ends of edges, whatever the third one is.
pub(super) fn are_ends(head: &[String]) -> bool {
    let is = |at: usize, role: Role| {
        head.get(at).is_some_and(|name| role.whole().contains(&normal(name).as_str()))
    };
    is(0, Role::From) && is(1, Role::To)
}

/// Returns 0 if a name is that of a right ascension, 1 if it is that of a declination.
pub(super) fn of_the_sky(name: &str) -> Option<usize> {
    let words = tokens(name);
    let is = |of: &[&str]| words.first().is_some_and(|word| of.contains(&word.as_str()));
    match () {
        () if is(&["ra", "raj2000", "rajd", "rah"]) => Some(0),
        () if is(&["dec", "decl", "de", "dej2000", "ded"]) => Some(1),
        () => None,
    }
}

/// Returns whether a name is that of an angle in polar coordinates.
pub(super) fn is_polar(name: &str) -> bool {
    matches!(normal(name).as_str(), "theta" | "phi" | "azimuth" | "bearing" | "\u{3b8}")
}

/// Returns whether these column names include a latitude and a longitude.
pub(super) fn are_degrees(text: Text<'_>, names: &[&str]) -> bool {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    [Role::Lat, Role::Lon]
        .into_iter()
        .all(|role| column(text, &names, role).is_ok_and(|found| found.is_some()))
}

/// Returns the angle unit in a column name, if it is not degrees, and how to convert it to degrees.
pub(super) fn odd_angle(name: &str) -> Option<(&'static str, &'static str)> {
    const ODD: [(&[&str], &str, &str); 8] = [
        (&["rad", "rads", "radian", "radians"], "radians", "the radians times 57.29577951308232"),
        (&["gon", "gons", "grad", "grads"], "gon", "the gon times 0.9"),
        (&["semicircle", "semicircles"], "semicircles", "the semicircles times 180 / 2147483648"),
        (&["e7", "1e7"], "ten-millionths of a degree", "the numbers divided by 10000000"),
        (&["e6", "1e6", "microdegrees"], "millionths of a degree", "the numbers divided by 1000000"),
        (&["h", "hour", "hours", "hms"], "hours", "the hours times 15"),
        (&["arcmin", "arcminutes"], "minutes", "the minutes divided by 60"),
        (
            &["ddmm", "dddmm", "ddmmss", "dms", "dm"],
            "degrees and minutes",
            "the degrees, and the minutes divided by 60",
        ),
    ];
    let lower = name.to_lowercase();
    if ["dd.mm", "d.mm", "mm.ss", "mmss"].iter().any(|form| lower.contains(form)) {
        return Some((ODD[7].1, ODD[7].2));
    }
    let words = tokens(name);
    let has = |word: &str| {
        words.iter().any(|other| {
            other == word
                || other
                    .strip_suffix(word)
                    .is_some_and(|stem| matches!(stem, "latitude" | "longitude" | "lat" | "lon" | "lng"))
        })
    };
    // `deg.min`
    let are_two = has("deg") && (has("min") || has("minutes"));
    if are_two {
        return Some((ODD[7].1, ODD[7].2));
    }
    ODD.iter()
        .find(|(units, ..)| units.iter().any(|unit| has(unit)))
        .map(|&(_, unit, degrees)| (unit, degrees))
}

/// Returns whether a column holds the minutes or seconds of an angle whose degrees are in another column.
pub(super) fn is_part_of_degrees(name: &str) -> bool {
    let words = tokens(name);
    let has = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
    has(&["lat", "latitude", "lon", "lng", "longitude"])
        && has(&["min", "mins", "minute", "minutes", "sec", "secs", "second", "seconds"])
        && !has(&["deg", "degrees", "degree"])
}

/// Returns whether a value in a column of this name gives the system or unit of the numbers in its row. A delivery zone, or the
/// number of a flat, does not.
pub(super) fn is_system(name: &str, value: &str) -> bool {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match normal(name).as_str() {
        "epsg" | "crs" | "srid" | "srs" => true,
        // In German, `Datum` means date.
        "datum" => !value.starts_with(|c: char| c.is_ascii_digit()),
        "utmzone" => is_number,
        "zone" => is_number && digits.len() <= 2 && value.len() == digits.len() + 1,
        "unit" | "units" | "uom" => UNITS.contains(&value.trim().to_lowercase().as_str()),
        _ => false,
    }
}

/// Names of units of time, and of length.
pub(super) const UNITS_OF_COSTS: [&[&str]; 2] = [
    &[
        "d", "day", "days", "tage", "h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden", "min",
        "mins", "minute", "minutes", "minuten", "s", "sec", "secs", "second", "seconds", "sek", "sekunden",
    ],
    &[
        "km", "m", "meter", "meters", "metre", "metres", "mi", "mile", "miles", "chain", "chains", "furlong",
        "furlongs", "yd", "yard", "yards", "ft", "feet", "foot", "in", "inch", "inches",
    ],
];

/// Returns whether a name ends with one of these units.
pub(super) fn is_in(name: &str, units: &[&str]) -> bool {
    tokens(name).last().is_some_and(|word| units.contains(&word.as_str()))
}

/// Returns whether a name says that its numbers are not decimals but two parts of a time: `h.mm`.
pub(super) fn is_clock(name: &str) -> bool {
    let name = name.to_lowercase();
    ["h.mm", "h:mm", "m.ss", "m:ss"].iter().any(|form| name.contains(form))
}

/// Returns whether a word is the name of a column of ids.
pub(super) fn is_id(word: &str) -> bool {
    let word = normal(word);
    !word.is_empty() && Role::Id.whole().contains(&word.as_str())
}

/// Returns whether a word is the name of a column of coordinates.
pub(super) fn is_coordinate(word: &str) -> bool {
    let word = normal(word);
    [Role::X, Role::Y, Role::Z, Role::Lat, Role::Lon].iter().any(|role| role.whole().contains(&word.as_str()))
}

/// Returns whether letters in this column are not hemispheres.
pub(super) fn is_of_deliveries(name: &str) -> bool {
    tokens(name).iter().any(|word| {
        matches!(word.as_str(), "zone" | "status" | "sex" | "region" | "sector" | "side" | "shift")
    })
}

/// Returns whether the column says which edges can be used.
pub(super) fn is_state(name: &str) -> bool {
    matches!(
        normal(name).as_str(),
        "closed"
            | "open"
            | "status"
            | "state"
            | "blocked"
            | "active"
            | "enabled"
            | "disabled"
            | "passable"
            | "access"
    )
}

/// Returns whether the column says which edges are directed.
pub(super) fn is_direction(name: &str) -> bool {
    matches!(normal(name).as_str(), "type" | "directed" | "isdirected" | "oneway" | "direction")
        || is_both_ways(name)
}

/// Returns whether the column says which edges apply in both directions.
pub(super) fn is_both_ways(name: &str) -> bool {
    matches!(normal(name).as_str(), "bidirectional" | "bidir" | "twoway" | "undirected")
}

const UNITS: [&str; 17] = [
    "m", "km", "cm", "mm", "um", "mi", "miles", "ft", "feet", "in", "inch", "inches", "mil", "mils", "px",
    "pixel", "pixels",
];

/// Returns the unit of length in a column name, as written.
pub(super) fn unit(name: &str) -> Option<String> {
    tokens(name).into_iter().skip(1).find(|word| UNITS.contains(&word.as_str()))
}

/// Returns the columns whose names are those of costs.
pub(super) fn costs(names: &[String]) -> Vec<usize> {
    let is_cost = |name: &String| {
        Role::Cost.whole().contains(&normal(name).as_str())
            || tokens(name).iter().any(|word| Role::Cost.part().contains(&word.as_str()))
    };
    (0..names.len()).filter(|&at| is_cost(&names[at])).collect()
}

/// Returns whether a label is a word for a sum.
pub(super) fn is_sum(label: &str) -> bool {
    let words = [
        "sum",
        "total",
        "totals",
        "summe",
        "gesamt",
        "grandtotal",
        "somme",
        "suma",
        "totale",
        "\u{3c3}",
        "\u{2211}",
    ];
    words.contains(&normal(label).as_str()) || label.trim() == "\u{2211}"
}

/// Returns whether a label is a word for a mean.
pub(super) fn is_mean(label: &str) -> bool {
    matches!(normal(label).as_str(), "mean" | "average" | "avg" | "durchschnitt" | "mittelwert" | "moyenne")
}

fn several(text: Text<'_>, names: &[String], role: Role, is_it: impl Fn(usize) -> bool) -> InstanceError {
    let found: Vec<usize> = (0..names.len()).filter(|&at| is_it(at)).collect();
    let list: Vec<String> =
        found.iter().map(|&at| format!("\"{}\" (column {})", printable(&names[at]), at + 1)).collect();
    let problem = format!("several columns may be {}: {}", role.word(), list.join(", "));
    let option = match role {
        Role::Lat => "lat",
        Role::Lon => "lon",
        role => role.word(),
    };
    text.content(
        problem,
        format!(
            "choose one, such as `--columns {option}={}`, in addition to the others that are needed",
            found[0] + 1
        ),
    )
}

/// Returns a name's letters and digits in lower case, without anything in brackets.
pub(super) fn normal(name: &str) -> String {
    let name = name.trim();
    if name == "#" {
        return name.to_owned();
    }
    let bare = name.split(['(', '[']).next().unwrap_or_default();
    let bare = if bare.trim().is_empty() { name } else { bare };
    bare.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Splits a name into words: `stop_lat` and `stopLat` have two.
pub(super) fn tokens(name: &str) -> Vec<String> {
    let mut tokens = vec![String::new()];
    let mut is_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && is_small) {
            tokens.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(last) = tokens.last_mut()
        {
            last.extend(c.to_lowercase());
        }
        is_small = c.is_lowercase();
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

/// Lists column names for a message.
pub(super) fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> =
        names.iter().take(SHOWN).map(|name| format!("\"{}\"", printable(name))).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_any_common_name() {
        let find = |names: &[&str], role| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            column(Text { file: "t", bytes: b"" }, &names, role).map_err(|error| error.to_string())
        };
        for (name, role) in [
            ("X", Role::X),
            ("x_coord", Role::X),
            ("XCoord", Role::X),
            ("x (m)", Role::X),
            ("Coord X", Role::X),
            ("Easting [m]", Role::X),
            ("pos_y", Role::Y),
            ("Y-Coordinate", Role::Y),
            ("Lat.", Role::Lat),
            ("stop_lat", Role::Lat),
            ("Latitude (deg)", Role::Lat),
            ("LNG", Role::Lon),
            ("location.lng", Role::Lon),
            ("stopLon", Role::Lon),
            ("start_vid", Role::From),
            ("agg_cost", Role::Cost),
        ] {
            assert_eq!(find(&["other", name], role), Ok(Some(1)), "{name}");
        }
        for name in ["stop_id", "", "Unnamed: 0", "Nr."] {
            assert_eq!(ids(&["other".to_owned(), name.to_owned()]), [1], "{name}");
        }
        assert_eq!(ids(&["", "", "PLZ", "stop no", "key"].map(str::to_owned)), [4, 3]);
        assert_eq!(find(&["a", "Breite", "max"], Role::X), Ok(None));
        assert_eq!(find(&["x", "x_old"], Role::X), Ok(Some(0)));
        assert_eq!(find(&["from/to", "A"], Role::From), Ok(None));
        assert!(find(&["x", "y", "X"], Role::X).unwrap_err().contains("\"x\" (column 1), \"X\" (column 3)"));
    }
}
