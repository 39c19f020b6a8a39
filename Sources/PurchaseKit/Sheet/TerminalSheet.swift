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
        await withCheckedContinuation { continuation in
            // In a separate thread, because reading blocks until the customer
            // answers.
            Thread.detachNewThread {
                continuation.resume(returning: Self.ask(contents))
            }
        }
    }

    public func notify(_ sentence: String) async {
        let descriptor = open(Self.terminal, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return StandardError.say(sentence) }
        defer { close(descriptor) }
        Self.say(VisibleText.line(sentence) + "\n", to: descriptor)
    }

    private static func ask(_ contents: SheetContents) -> SheetAnswer {
        let descriptor = open(terminal, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return .cancel }
        defer { close(descriptor) }
        return answer(to: contents, on: descriptor)
    }

    /// Shows the sheet on an open terminal, and asks until the input is a valid
    /// answer.
    static func answer(to contents: SheetContents, on descriptor: Int32) -> SheetAnswer {
        let rule = String(repeating: "─", count: 40)
        let lines = [rule] + contents.lines + [rule]
        // A product's texts must not control the terminal or reverse the price.
        say("\n" + lines.map { "  \(VisibleText.line($0))\n" }.joined(), to: descriptor)
        while true {
            say("  Buy? [y/n] ", to: descriptor)
            guard let answer = line(from: descriptor) else { return .cancel }
            switch answer.lowercased() {
            case "y", "yes": return .confirm
            case "n", "no", "": return .cancel
            default: continue
            }
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
