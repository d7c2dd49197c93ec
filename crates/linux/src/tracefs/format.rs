//! Parses the `format` file of a trace event, and `header_page`, which has the same syntax.

use freehold::Order;
use thiserror::Error;

/// Why a `format` file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct FormatError(pub String);

/// A field of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its offset in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
    /// True if it is a signed number.
    pub signed: bool,
}

impl Field {
    /// Returns the field's number in an event's bytes, sign-extended if the field is signed.
    ///
    /// Returns `None` if the bytes end too early or the field is not a number of 1, 2, 4 or 8 bytes.
    pub fn read(&self, event: &[u8]) -> Option<u64> {
        let bytes = event.get(self.offset..self.offset.checked_add(self.size)?)?;
        let mut native = [0; 8];
        let start = if cfg!(target_endian = "big") { 8_usize.checked_sub(self.size)? } else { 0 };
        native.get_mut(start..start + self.size)?.copy_from_slice(bytes);
        let value = u64::from_ne_bytes(native);
        Some(match self.size {
            1 if self.signed => value as i8 as u64,
            2 if self.signed => value as i16 as u64,
            4 if self.signed => value as i32 as u64,
            1 | 2 | 4 | 8 => value,
            _ => return None,
        })
    }

    /// Returns the order in the field, if it is at most `largest`.
    pub(super) fn order(&self, event: &[u8], largest: Order) -> Option<Order> {
        Order::new(u8::try_from(self.read(event)?).ok()?).filter(|&order| order <= largest)
    }

    /// Returns true if all bits of the field's number are set.
    pub fn is_all_ones(&self, value: u64) -> bool {
        let bits = (self.size * 8).min(64) as u32;
        let mask = u64::MAX >> (64 - bits.max(1));
        value & mask == mask
    }
}

/// A parsed `format` file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventFormat {
    /// The value of `common_type` in such events.
    pub id: u16,
    /// Its fields, including the common ones.
    pub fields: Vec<Field>,
    /// The format by which the kernel prints the event.
    pub print_fmt: String,
}

impl EventFormat {
    /// Returns the field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name == name)
    }
}

/// Parses a `format` file or `header_page`, which has neither ID nor print format.
///
/// # Errors
///
/// A field's row without name, offset or size.
pub fn parse_format(text: &str) -> Result<EventFormat, FormatError> {
    let mut format = EventFormat::default();
    for row in text.lines() {
        let row = row.trim_start();
        if let Some(id) = row.strip_prefix("ID:") {
            format.id =
                id.trim().parse().map_err(|_| FormatError(format!("no event number in \"{row}\"")))?;
        } else if let Some(rest) = row.strip_prefix("field:") {
            format.fields.push(field(rest).ok_or_else(|| FormatError(format!("no field in \"{row}\"")))?);
        } else if let Some(rest) = row.strip_prefix("print fmt:") {
            rest.trim().clone_into(&mut format.print_fmt);
        }
    }
    Ok(format)
}

/// Parses a row such as `unsigned long pfn; offset:8; size:8; signed:0;`.
fn field(row: &str) -> Option<Field> {
    let mut parts = row.split(';').map(str::trim);
    let declaration = parts.next()?;
    let declaration = declaration.split_once('[').map_or(declaration, |(before, _)| before).trim_end();
    let name = declaration.rsplit([' ', '*']).next()?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", n)) => offset = n.trim().parse().ok(),
            Some(("size", n)) => size = n.trim().parse().ok(),
            Some(("signed", n)) => signed = n.trim() == "1",
            _ => {}
        }
    }
    if name.is_empty() {
        return None;
    }
    Some(Field { name: name.to_owned(), offset: offset?, size: size?, signed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_their_place() {
        let text = "name: x\nID: 653\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                    \n\tfield:char *comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\nprint fmt: \"a=%d\", REC->a\n";
        let format = parse_format(text).unwrap();
        assert_eq!(format.id, 653);
        assert_eq!(format.field("comm").unwrap().size, 16);
        assert_eq!(format.print_fmt, "\"a=%d\", REC->a");
        assert!(parse_format("field:int a;\toffset:x;\tsize:4;").is_err());
        assert!(parse_format("ID: many").is_err());
    }

    #[test]
    fn numbers_keep_their_sign() {
        let field = |size, signed| Field { name: "n".into(), offset: 1, size, signed };
        let event = [0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(field(4, true).read(&event), Some(u64::MAX));
        assert_eq!(field(4, false).read(&event), Some(0xffff_ffff));
        assert_eq!(field(8, false).read(&event), Some(u64::MAX));
        assert_eq!(field(3, false).read(&event), None);
        assert_eq!(field(8, false).read(&event[..8]), None);
        assert!(field(4, false).is_all_ones(0xffff_ffff));
        assert!(!field(8, false).is_all_ones(0xffff_ffff));
    }
}
