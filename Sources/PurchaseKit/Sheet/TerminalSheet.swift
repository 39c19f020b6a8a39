// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Shows the sheet on the terminal and reads the answer from the terminal
/// itself, never from the app's standard input.
public struct TerminalSheet: PaymentSheet {
    private static let terminal = "/dev/tty"

    public init() {}

    /// Whether the process has a terminal and is in its foreground. In the
    /// background, reading from the terminal would stop the process.
    public static var isAvailable: Bool {
        let descriptor = open(terminal, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return tcgetpgrp(descriptor) == getpgrp()
    }

    /// Returns `cancel` if the terminal was closed.
    public func present(_ contents: SheetContents) async -> SheetAnswer {
        await Self.converse { Self.answer(to: contents, on: $0) } ?? .cancel
    }

    /// Returns `cancel` if the terminal was closed.
    public func ask(_ question: String) async -> SheetAnswer {
        await Self.converse { Self.answer(to: VisibleText.line(question), on: $0) } ?? .cancel
    }

    public func askForConsent(_ increase: SheetPriceIncrease) async -> SheetAnswer {
        await ask(increase.question)
    }

    public func notify(_ sentence: String) async {
        let descriptor = open(Self.terminal, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return StandardError.say(sentence) }
        defer { close(descriptor) }
        Self.say(VisibleText.line(sentence) + "\n", to: descriptor)
    }

    public func askForCode() async -> String? {
        await Self.converse { Self.code(on: $0) }
    }

    public func askForReview(_ question: SheetReviewQuestion) async -> SheetReview? {
        await Self.converse { Self.review(question, on: $0) }
    }

    /// Opens the terminal in a separate thread, because reading blocks until the
    /// customer answers. Nil if it cannot be opened.
    private static func converse<Answer: Sendable>(
        _ answer: @escaping @Sendable (Int32) -> Answer?
    ) async -> Answer? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let descriptor = open(terminal, O_RDWR | O_CLOEXEC)
                guard descriptor >= 0 else { return continuation.resume(returning: nil) }
                defer { close(descriptor) }
                continuation.resume(returning: answer(descriptor))
            }
        }
    }

    /// Shows the sheet on an open terminal, and asks until the input is a valid
    /// answer.
    static func answer(to contents: SheetContents, on descriptor: Int32) -> SheetAnswer {
        let rule = String(repeating: "─", count: 40)
        let lines = [rule] + contents.lines + [rule]
        // A product's texts must not control the terminal or reverse the price.
        say("\n" + lines.map { "  \(VisibleText.line($0))\n" }.joined(), to: descriptor)
        return answer(to: "Buy?", on: descriptor)
    }

    /// Asks a question until the input is a valid answer.
    static func answer(to question: String, on descriptor: Int32) -> SheetAnswer {
        while true {
            say("  \(question) [y/n] ", to: descriptor)
            guard let answer = line(from: descriptor) else { return .cancel }
            switch answer.lowercased() {
            case "y", "yes": return .confirm
            case "n", "no", "": return .cancel
            default: continue
            }
        }
    }

    /// Asks for a code once. Nil for an empty line.
    static func code(on descriptor: Int32) -> String? {
        say("  Code: ", to: descriptor)
        let text = line(from: descriptor)?.trimmingCharacters(in: .whitespaces)
        return text?.isEmpty == false ? text : nil
    }

    /// Asks for stars until the input is a number of them or empty, and then for a text.
    static func review(_ question: SheetReviewQuestion, on descriptor: Int32) -> SheetReview? {
        while true {
            let asked = VisibleText.line(question.question)
            say("  \(asked) with 1 to 5 stars, or Enter for not now: ", to: descriptor)
            let answer = line(from: descriptor)?.trimmingCharacters(in: .whitespaces) ?? ""
            if answer.isEmpty { return nil }
            guard let stars = Int(answer), (1...5).contains(stars) else { continue }
            say("  What do you say of it? Enter for nothing: ", to: descriptor)
            let text = line(from: descriptor)?.trimmingCharacters(in: .whitespaces) ?? ""
            return SheetReview(stars: stars, text: text.isEmpty ? nil : text)
        }
    }

    private static func say(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    private static func line(from descriptor: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: [UInt8] = [0]
        while systemRead(descriptor, &byte) == 1 {
            if byte == [UInt8(ascii: "\n")] { return String(decoding: bytes, as: UTF8.self) }
            bytes += byte
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
