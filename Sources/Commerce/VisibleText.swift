// SPDX-License-Identifier: Apache-2.0

/// Makes foreign text safe to show on a terminal.
///
/// A terminal obeys control characters and arranges text by bidirectional ones.
/// A product's name could clear the screen and write a false verdict. So every
/// invisible character is written as `\u{1B}`.
public enum VisibleText {
    /// Whether a character controls a terminal or is invisible: control and
    /// format characters (C0, C1, bidirectional, zero-width), separators of
    /// lines and paragraphs, and blank letters. Variation selectors are not
    /// hidden, because they only choose how the character before them looks.
    public static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        if (0xFE00...0xFE0F).contains(scalar.value) { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether a name may contain a character. Control, bidirectional and other
    /// invisible characters are forbidden. Joiners and tags are allowed,
    /// because emoji and some scripts need them.
    public static func isAllowedInName(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value == 0x200C || scalar.value == 0x200D { return true }
        return (0xE0020...0xE007F).contains(scalar.value) || !isHidden(scalar)
    }

    /// Like ``isAllowedInName(_:)``, for a text of several lines.
    public static func isAllowedInLines(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n" || isAllowedInName(scalar)
    }

    /// Whether a text consists of spaces and line ends alone.
    public static func isBlank(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.properties.isWhitespace }
    }

    /// `U+202E`, for messages about a character that cannot be shown.
    public static func name(of scalar: Unicode.Scalar) -> String {
        let digits = hexadecimal(scalar.value)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Returns one line, in which hidden characters and line ends are written
    /// as `\u{…}`.
    public static func line(_ text: String) -> String {
        replacing(text, keeping: []) { "\\u{\(hexadecimal($0.value))}" }
    }

    /// For our own lines that contain foreign text: like ``line(_:)``, but line
    /// ends and tabs stay.
    public static func lines(_ text: String) -> String {
        replacing(text, keeping: ["\n", "\t"]) { "\\u{\(hexadecimal($0.value))}" }
    }

    /// For a JSON document: hidden characters, which only its strings can
    /// contain, become JSON escapes. The document keeps its meaning.
    public static func json(_ text: String) -> String {
        replacing(text, keeping: ["\n", "\t", "\r"]) { scalar in
            String(scalar).utf16.map { unit in
                let digits = hexadecimal(UInt32(unit))
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    private static func replacing(
        _ text: String, keeping kept: Set<Unicode.Scalar>,
        _ escape: (Unicode.Scalar) -> String
    ) -> String {
        let isHidden = { (scalar: Unicode.Scalar) in
            Self.isHidden(scalar) && !kept.contains(scalar)
        }
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                shown.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                shown.append(scalar)
            }
        }
        return String(shown)
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        String(value, radix: 16, uppercase: true)
    }
}
