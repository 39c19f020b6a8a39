// SPDX-License-Identifier: Apache-2.0

import Commerce
import Testing

/// What is shown of text that steers a terminal.
@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("\u{0}", "\\u{0}"), ("\u{7}", "\\u{7}"), ("\u{1B}[31m", "\\u{1B}[31m"),
        ("\u{7F}", "\\u{7F}"), ("\u{9B}31m", "\\u{9B}31m"), ("a\nb", "a\\u{A}b"),
        ("a\tb", "a\\u{9}b"), ("\r\n", "\\u{D}\\u{A}"),
        ("\u{202E}x\u{2066}", "\\u{202E}x\\u{2066}"),
        ("\u{61C}", "\\u{61C}"), ("\u{200B}\u{FEFF}", "\\u{200B}\\u{FEFF}"),
        ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("\u{AD}", "\\u{AD}"),
        ("\u{3164}", "\\u{3164}"), ("\u{E0041}", "\\u{E0041}"),
        ("Grüße, 5 × 💎 日本語 שלום ❤\u{FE0F}", "Grüße, 5 × 💎 日本語 שלום ❤\u{FE0F}"),
    ])
    func `a line shows what hides`(_ text: String, _ shown: String) {
        #expect(VisibleText.line(text) == shown)
    }

    @Test func `no scalar that hides is left, in words or JSON`() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), VisibleText.isHidden(scalar) else { continue }
            let shown = VisibleText.line(String(scalar)) + VisibleText.json(String(scalar))
            let left = shown.unicodeScalars.filter(VisibleText.isHidden)
            #expect(left.allSatisfy { ["\n", "\t", "\r"].contains($0) }, "\(value)")
        }
    }

    @Test func `JSON means what it meant`() {
        #expect(
            VisibleText.json("{\"a\":\"\u{202E}\u{E0041}\"}\n") == #"{"a":"\u202E\uDB40\uDC41"}"#
                + "\n")
    }

    @Test func `a name may be spelled with joiners, and holds nothing else that hides`() {
        let family = "👩\u{200D}👧"
        #expect(family.unicodeScalars.allSatisfy(VisibleText.isAllowedInName))
        for scalar: Unicode.Scalar in [
            "\n", "\u{1B}", "\u{202E}", "\u{200B}", "\u{200F}", "\u{9B}",
        ] {
            #expect(!VisibleText.isAllowedInName(scalar))
        }
    }
}
