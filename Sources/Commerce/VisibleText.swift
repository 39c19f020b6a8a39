// SPDX-License-Identifier: Apache-2.0

/// Text from outside, made safe to show on a terminal.
///
/// A terminal obeys control characters, and lays text out by bidirectional
/// ones: a product's name could clear the screen and write a verdict of its own.
/// Every character that does not show itself is written as `\u{1B}` instead.
public enum VisibleText {
    /// Whether a character steers a terminal or is not seen on it: control and
    /// format characters (C0, C1, bidirectional, zero-width), separators of lines
    /// and paragraphs, and letters that are blank. Variation selectors only choose
    /// how the character before them looks, so they are none.
    public static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        if (0xFE00...0xFE0F).contains(scalar.value) { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Whether text that names something may hold a character: neither control
    /// nor bidirectional ones, nor others that are not seen. Joiners and tags are
    /// allowed, because emoji and some scripts are spelled with them.
    public static func isAllowedInName(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value == 0x200C || scalar.value == 0x200D { return true }
        return (0xE0020...0xE007F).contains(scalar.value) || !isHidden(scalar)
    }

    /// One line: hidden characters as `\u{…}`, line ends too.
    public static func line(_ text: String) -> String {
        replacing(text, keeping: []) { "\\u{\(hexadecimal($0.value))}" }
    }

    /// Lines of our own making that hold words from outside: as ``line(_:)``,
    /// but line ends and tabs stay.
    public static func lines(_ text: String) -> String {
        replacing(text, keeping: ["\n", "\t"]) { "\\u{\(hexadecimal($0.value))}" }
    }

    /// A JSON document: hidden characters, which only its strings can hold, as
    /// the escapes of JSON, so that it means what it meant.
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
