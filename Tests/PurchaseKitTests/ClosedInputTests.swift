// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import TestSupport
import Testing

@testable import PurchaseKit

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A process that was started without standard input: what it opens first has
/// the descriptor 0, which is as good as any other.
@Suite(.timeLimit(.minutes(5)))
struct ClosedInputTests {
    @Test func `a device keeps its files`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            let place = try temporaryFolder()
            let folder = URL(fileURLWithPath: place.file("device"))
            let (one, other) = (
                FolderDeviceFiles(folder: folder), FolderDeviceFiles(folder: folder)
            )
            try other.claim(launch: "other")
            close(STDIN_FILENO)

            try one.replace([DeviceFile(name: "queue.json", bytes: [7])])
            try one.exchange(DeviceFile(name: "receipt", bytes: [8]))
            let isKept = try one.read("queue.json") == [7] && one.read("receipt") == [8]
            let isSeen = one.isClaimed(launch: "other")
            let isLocked = try one.withLock { true }
            // From here on 0 is in use.
            try one.claim(launch: "one")

            exit(isKept && isSeen && isLocked && other.isClaimed(launch: "one") ? 3 : 4)
        }
    }

    @Test func `the sheet is shown on the terminal, and answered there`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            let screen = try ClosedInputTests.terminal()
            close(STDIN_FILENO)

            guard TerminalSheet.isAvailable else { exit(4) }
            try #require(write(screen, "y\n", 2) == 2)
            guard await TerminalSheet().present(try ClosedInputTests.contents()) == .confirm
            else { exit(5) }
            await TerminalSheet().notify("The card was declined.")

            let isShown = ClosedInputTests.shows("The card was declined.", on: screen)
            exit(isShown ? 3 : 6)
        }
    }

    private static func contents() throws -> SheetContents {
        SheetContents(
            productID: "x", title: "Ten credits", details: "For monkeys", quantity: 1,
            unitPrice: Money(Amount(milliunits: 990), try #require(Currency(code: "USD"))),
            priceLocale: "en_US@currency=USD")
    }

    /// Gives this process a terminal of its own, and returns the other end of it.
    private static func terminal() throws -> Int32 {
        var (screen, terminal): (Int32, Int32) = (-1, -1)
        try #require(openpty(&screen, &terminal, nil, nil, nil) == 0)
        let session = setsid()
        let answer = ioctl(terminal, UInt(TIOCSCTTY), 0)
        try #require(session > 0 && answer == 0 && min(screen, terminal) > STDERR_FILENO)
        return screen
    }

    /// Whether the terminal shows a text within some seconds.
    private static func shows(_ text: String, on screen: Int32) -> Bool {
        var shown: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var ready = pollfd(fd: screen, events: Int16(POLLIN), revents: 0)
        while poll(&ready, 1, 10_000) == 1 {
            let count = read(screen, &buffer, buffer.count)
            guard count > 0 else { return false }
            shown += buffer[..<count]
            if String(decoding: shown, as: UTF8.self).contains(text) { return true }
        }
        return false
    }
}
