// SPDX-License-Identifier: Apache-2.0

import Testing

/// The rules of prose that a machine can judge.
@Suite struct ProseTests {
    @Test func `a comment names its actors, and returns or reports instead of telling`() throws {
        let files = try PackageTree().files(in: ["Sources"], extensions: ["swift"])
        let paragraphs = files.flatMap(CommentParagraph.all)

        #expect(files.count > 20 && paragraphs.count > 4000)
        #expect(
            paragraphs.flatMap { paragraph in
                paragraph.mistakes.map { "\(paragraph.place): \($0)" }
            } == [], "name the caller, client, worker or operator; say return, report or send")
        for use in CommentParagraph.honest {
            #expect(paragraphs.contains { $0.text.contains(use) }, "\(use) is not used any more")
        }
    }

    @Test(arguments: [
        ("Who asks to buy buys what is approved.", ["Who"]),
        ("Wakes the waiters; who is woken looks for itself.", ["who"]),
        ("To who subscribes for the first time.", ["who"]),
        ("Compares two tokens. Whoever is second loses.", ["Whoever"]),
        ("Hints for whoever waits.", ["whoever"]),
        ("Tells whether it is done, and what it was told.", ["Tells", "told"]),
        ("The customer who signs in.", []),
        ("Belongs to another user, who may allow us to enter it.", []),
        ("Calls `tellFinish` and ``Outcome/told``.", []),
    ])
    func `a bare actor and telling are found in prose, and not in code`(
        text: String, found: [String]
    ) {
        let file = SourceFile(path: "a.swift", text: "let a = 1\n    /// \(text)\nlet b = 2\n")

        #expect(CommentParagraph.all(of: file).flatMap(\.mistakes) == found)
    }

    @Test func `a sentence goes on over lines, and code in a fence is no prose`() {
        let file = SourceFile(
            path: "a.swift",
            text: "/// Is for\n/// who asks.\n/// ```swift\n/// let told = 1\n/// ```\n/// - who?\n"
        )

        let paragraphs = CommentParagraph.all(of: file)

        #expect(paragraphs.map(\.place) == ["a.swift:1", "a.swift:6"])
        #expect(paragraphs.map(\.text) == ["Is for who asks.", "who?"])
        #expect(paragraphs.flatMap(\.mistakes) == ["who", "who"])
    }
}

/// A paragraph, or an item of a list, of the comments in a file.
private struct CommentParagraph {
    let place: String
    private(set) var text: String

    /// Uses of `tell` that mean a request and no report.
    static let honest = ["is told to send its body"]

    /// The words that break a rule, in the order of the rules.
    var mistakes: [String] {
        guard ["who", "Who", "tell", "Tell", "told", "Told"].contains(where: text.contains) else {
            return []
        }
        let prose = Self.honest.reduce(text) { $0.replacing($1, with: "") }
            .replacing(#/`+[^`]*`+/#, with: "")
        let bare =
            #/
            (?: ^ | [.;:(—]\s+ | [,;]\s+(?:and|but|or)\s+
                | \b(?:as|by|for|from|if|of|once|than|that|to|unless|until|when|where|while|with)\s+ )
            (?<word>who) \b
            /#
            .ignoresCase()
        return prose.matches(of: bare).map { String($0.output.word) }
            + prose.matches(of: #/\b[Ww]hoever\b/#).map { String($0.output) }
            + prose.matches(of: #/\b(?:[Tt]ell(?:s|ing)?|[Tt]old)\b/#).map { String($0.output) }
    }

    static func all(of file: SourceFile) -> [CommentParagraph] {
        var found: [CommentParagraph] = []
        var isOpen = false
        var isFenced = false
        for (number, line) in file.lines {
            let comment = line.drop { $0 == " " }
            guard comment.hasPrefix("//") else {
                (isOpen, isFenced) = (false, false)
                continue
            }
            let words = comment.drop { $0 == "/" }.drop { $0 == " " }
            if words.hasPrefix("```") { isFenced.toggle() }
            if words.isEmpty || isFenced || words.hasPrefix("```") {
                isOpen = false
            } else if isOpen, !words.hasPrefix("- ") {
                found[found.count - 1].text += " " + words
            } else {
                let start = words.hasPrefix("- ") ? words.dropFirst(2) : words
                found.append(CommentParagraph(place: "\(file.path):\(number)", text: String(start)))
                isOpen = true
            }
        }
        return found
    }
}
