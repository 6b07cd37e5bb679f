//! The columns that name places: by their headings, and by whether their texts tell the places apart.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::Table;
use super::header::{is_id, normal, tokens};

/// What a column says about a place, the best name first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Name,
    Address,
    Street,
    City,
    Postcode,
    /// The number of a house, which is a name only with its street.
    House,
}

const NAMES: &[&str] = &[
    "name",
    "names",
    "label",
    "title",
    "place",
    "placename",
    "stopname",
    "nom",
    "nombre",
    "location",
    "station",
    "stop",
    "site",
    "customer",
    "customername",
    "kunde",
    "kundenname",
    "namn",
    "naam",
    "nome",
    "nazwa",
    "jméno",
    "名称",
    "client",
    "cliente",
    "store",
    "shop",
    "company",
    "firma",
    "bezeichnung",
    "standort",
    "hole",
    "point",
    "node",
];
const ADDRESSES: &[&str] = &[
    "address",
    "addresses",
    "address1",
    "addressline1",
    "streetaddress",
    "fulladdress",
    "adresse",
    "anschrift",
    "dirección",
    "direccion",
    "indirizzo",
    "adres",
    "endereço",
    "adress",
    "地址",
];
const STREETS: &[&str] = &[
    "street",
    "streetname",
    "road",
    "straße",
    "strasse",
    "str",
    "straßenname",
    "strassenname",
    "rue",
    "voie",
    "calle",
    "via",
    "straat",
    "rua",
    "ulica",
    "gata",
];
const CITIES: &[&str] = &[
    "city",
    "cityname",
    "town",
    "ort",
    "stadt",
    "wohnort",
    "gemeinde",
    "ville",
    "commune",
    "ciudad",
    "localidad",
    "città",
    "comune",
    "miasto",
    "stad",
    "plaats",
    "woonplaats",
    "cidade",
    "suburb",
    "capital",
];
const POSTCODES: &[&str] = &[
    "postcode",
    "postalcode",
    "zip",
    "zipcode",
    "plz",
    "postleitzahl",
    "codepostal",
    "cp",
    "códigopostal",
    "codigopostal",
    "kodpocztowy",
    "postnummer",
    "postnr",
    "pincode",
    "eircode",
    "psč",
];
const HOUSES: &[&str] = &[
    "housenumber",
    "houseno",
    "housenr",
    "hausnummer",
    "hausnr",
    "hnr",
    "streetnumber",
    "streetno",
    "huisnummer",
    "numerocivico",
    "civico",
];
/// Words for a number. It may be that of a house if its column is beside that of the street.
const NUMBERS: &[&str] =
    &["no", "nr", "num", "number", "nummer", "numero", "número", "numéro", "n", "nº", "#"];
/// Words that say that a column is about something else: part of a person's name, an e-mail address, the number of a telephone, a region.
const OTHERS: &[&str] = &[
    "email",
    "emailadresse",
    "mailadresse",
    "first",
    "firstname",
    "last",
    "lastname",
    "surname",
    "vorname",
    "nachname",
    "mail",
    "ip",
    "web",
    "phone",
    "telephone",
    "tel",
    "telefon",
    "mobile",
    "fax",
    "country",
    "land",
    "state",
    "county",
    "region",
    "province",
    "admin",
    "admin1",
    "admin2",
    "driver",
    "vehicle",
];

impl Kind {
    /// Finds what a column of this name says; `None` if it names nothing.
    fn of(name: &str) -> Option<Kind> {
        Kind::by_whole(name).or_else(|| Kind::by_words(&tokens(name)))
    }

    fn by_whole(name: &str) -> Option<Kind> {
        let name = normal(name);
        let kinds = [
            (Kind::Name, NAMES),
            (Kind::Address, ADDRESSES),
            (Kind::Street, STREETS),
            (Kind::City, CITIES),
            (Kind::Postcode, POSTCODES),
            (Kind::House, HOUSES),
        ];
        kinds.into_iter().find(|(_, names)| names.contains(&name.as_str())).map(|(kind, _)| kind)
    }

    /// Finds it in a name of several words: `customer_city` is a city, `Street name` a street.
    fn by_words(words: &[String]) -> Option<Kind> {
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        if has(OTHERS) {
            return None;
        }
        let has_end = |ends: &[&str]| words.iter().any(|word| ends.iter().any(|end| word.ends_with(end)));
        let is_house = has(HOUSES) || has(NUMBERS) && (has(STREETS) || has(&["house", "haus", "huis"]));
        let kinds = [
            (Kind::Postcode, has(POSTCODES)),
            (Kind::House, is_house),
            (Kind::City, has(CITIES)),
            (Kind::Street, has(STREETS) || has_end(&["straße", "strasse"])),
            (Kind::Address, has(ADDRESSES) || has_end(&["adresse", "anschrift"])),
            (Kind::Name, has(&["name", "label"])),
        ];
        kinds.into_iter().find(|(_, is_it)| *is_it).map(|(kind, _)| kind)
    }

    /// Returns how specific a name is: its position among the names of its kind.
    fn rank(name: &str) -> usize {
        let name = normal(name);
        NAMES.iter().chain(ADDRESSES).position(|known| *known == name).unwrap_or(usize::MAX)
    }
}

/// Returns whether a word is the name of a column of names or ids.
pub(super) fn is_label(word: &str) -> bool {
    Kind::by_whole(word).is_some_and(|kind| kind != Kind::House) || is_id(word)
}

/// The columns whose texts name places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Naming {
    /// Joined by blanks: a single column, or street and number.
    columns: Vec<usize>,
    /// Behind a comma.
    city: Option<usize>,
}

impl Naming {
    pub(super) fn of(column: usize) -> Naming {
        Naming { columns: vec![column], city: None }
    }

    /// Chooses the best columns that tell most places apart: those of a name, else of an address, a street, a city, a postcode.
    /// Without any, a name, an address or a street may be repeated, but not be the same in all rows.
    ///
    /// `is_used` has the columns that are used otherwise. A column of words with another heading is considered if `others`.
    pub(super) fn choose(table: &Table<'_>, is_used: &dyn Fn(usize) -> bool, others: bool) -> Option<Naming> {
        let names = table.grid.names.as_deref().unwrap_or_default();
        let mut known: Vec<(Kind, usize, usize)> = (0..names.len())
            .filter(|&column| !is_used(column))
            .filter_map(|column| Some((Kind::of(&names[column])?, Kind::rank(&names[column]), column)))
            .filter(|&(kind, _, column)| kind != Kind::House && may_be(table, column, kind))
            .collect();
        known.sort_unstable();
        let is_word = |column: &usize| {
            let is_known = known.iter().any(|(.., other)| other == column);
            others && !is_used(*column) && !is_known && table.grid.has_words(*column)
        };
        let words: Vec<Naming> = (0..table.grid.width()).filter(is_word).map(Naming::of).collect();
        // The same for all streets, of which there may be thousands.
        let house_and_city = LazyCell::new(|| {
            let first = |kind| {
                (0..names.len()).find(|&column| !is_used(column) && Kind::of(&names[column]) == Some(kind))
            };
            (first(Kind::House), first(Kind::City).filter(|&city| Naming::of(city).differs(table)))
        });
        let of_street = |street: usize| {
            let (house, city) = *house_and_city;
            let beside = [street.wrapping_sub(1), street + 1].into_iter().find(|&column| {
                column < names.len() && !is_used(column) && is_number_of(table, column, street)
            });
            let mut columns: Vec<usize> = house.or(beside).into_iter().chain([street]).collect();
            columns.sort_unstable();
            Naming { columns, city }
        };
        let of_kinds = |kinds: RangeInclusive<Kind>| {
            let known = known.iter().filter(move |(kind, ..)| kinds.contains(kind));
            known.map(|&(kind, _, column)| match kind {
                // The name is street and number, in the order of the file, and the city if there are several.
                Kind::Street => of_street(column),
                // An address without the number of the house is a street if that is in another column.
                Kind::Address => Some(of_street(column))
                    .filter(|naming| naming.columns.len() > 1 && is_street(table, column))
                    .unwrap_or_else(|| Naming::of(column)),
                _ => Naming::of(column),
            })
        };
        // Where there is no choice, millions of names are not searched for repetitions.
        if let (Some(one), 1) = (of_kinds(Kind::Name..=Kind::Street).next(), known.len() + words.len()) {
            return Some(one).filter(|one| table.grid.rows() == 1 || one.differs(table));
        }
        of_kinds(Kind::Name..=Kind::City)
            .chain(words)
            .chain(of_kinds(Kind::Postcode..=Kind::Postcode))
            .find(|one| one.tells_apart(table))
            .or_else(|| of_kinds(Kind::Name..=Kind::Street).find(|one| one.differs(table)))
    }

    /// Returns whether most rows have a text of their own.
    pub(super) fn tells_apart(&self, table: &Table<'_>) -> bool {
        let rows = table.grid.rows();
        let mut texts = HashSet::new();
        (0..rows).any(|row| texts.insert(self.text(table, row)) && 2 * texts.len() > rows)
    }

    /// Returns whether the rows do not all have the same text.
    fn differs(&self, table: &Table<'_>) -> bool {
        let is_other = |row: usize, column| table.grid.cell(row, column) != table.grid.cell(0, column);
        (1..table.grid.rows()).any(|row| self.all().any(|column| is_other(row, column)))
    }

    /// Returns all columns.
    pub(super) fn all(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().copied().chain(self.city)
    }

    /// Returns the column if it is only one.
    pub(super) fn single(&self) -> Option<usize> {
        match (&self.columns[..], self.city) {
            ([column], None) => Some(*column),
            _ => None,
        }
    }

    /// Returns the name of a place; empty if the file has none.
    pub(super) fn text(&self, table: &Table<'_>, row: usize) -> String {
        if let Some(column) = self.single() {
            return table.grid.written(row, column);
        }
        let written = |column: &usize| table.grid.written(row, *column);
        let parts: Vec<String> = self.columns.iter().map(written).filter(|part| !part.is_empty()).collect();
        let city = self.city.as_ref().map(written).filter(|city| !city.is_empty());
        let name = Some(parts.join(" ")).filter(|name| !name.is_empty());
        [name, city].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Returns whether the content of a column may be of this kind. Numbers below `city_population` or `address_id` name no place, but those
/// below `city` may.
fn may_be(table: &Table<'_>, column: usize, kind: Kind) -> bool {
    let names = table.grid.names.as_deref().unwrap_or_default();
    let is_of_words = matches!(kind, Kind::Address | Kind::Street | Kind::City);
    !is_of_words || Kind::by_whole(&names[column]).is_some() || table.grid.has_words(column)
}

/// Returns whether a column holds streets: by its name, or addresses without the numbers of houses.
fn is_street(table: &Table<'_>, column: usize) -> bool {
    let names = table.grid.names.as_deref().unwrap_or_default();
    let has_number = |row: usize| table.grid.written(row, column).contains(|c: char| c.is_ascii_digit());
    match names.get(column).and_then(|name| Kind::of(name)) {
        Some(Kind::Street) => true,
        Some(Kind::Address) => !(0..table.grid.rows()).any(has_number),
        _ => false,
    }
}

/// Returns whether a column named like `no` holds the numbers of the houses in a street: it is behind the street; or it is in front of
/// it, and its numbers are not those of the places.
fn is_number_of(table: &Table<'_>, column: usize, street: usize) -> bool {
    let names = table.grid.names.as_deref().unwrap_or_default();
    NUMBERS.contains(&normal(&names[column]).as_str())
        && (column == street + 1 || column + 1 == street && table.grid.distinct(column).is_none())
}

/// Returns whether the numbers in a column are not those of the places, but of houses, postcodes or telephones.
pub(super) fn has_other_numbers(table: &Table<'_>, column: usize) -> bool {
    let names = table.grid.names.as_deref().unwrap_or_default();
    let Some(name) = names.get(column) else { return false };
    let is_other = || tokens(name).iter().any(|word| OTHERS.contains(&word.as_str()));
    let mut beside = [column.checked_sub(1), Some(column + 1)].into_iter().flatten();
    matches!(Kind::of(name), Some(Kind::House | Kind::Postcode))
        || is_other()
        || beside.any(|street| is_number_of(table, column, street) && is_street(table, street))
}
