// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Synchronization
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

/// How a process ends while calls are under way.
@Suite(.timeLimit(.minutes(5)))
struct ExitTests {
    /// In handshakes the TLS library below the transport is busiest: a process that
    /// exits amid them dies of a signal where they are not ended before.
    @Test func `a process that exits amid handshakes is not killed by them`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            let (server, url) = try await ExitTests.server()
            let transport = HTTPTransport(storeURL: url)
            let heard = Diary()
            for _ in 0..<6 {
                Task {
                    while true {
                        _ = try? await transport.send(DeviceCall(route: .receipt, requestID: "r"))
                        heard.write("failed")
                    }
                }
            }
            await heard.wait(for: "failed", count: 20)

            withExtendedLifetime(server) { exit(3) }
        }
    }

    /// The disk is slow, and takes the finish only once the process exits.
    @Test func `a finish right before the exit is on disk`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            // Run last, when all that waits at an exit has waited.
            atexit { _exit(SlowFiles.memory.text.contains(#""finished""#) ? 3 : 4) }
            let app = try Rig().launch(files: SlowFiles())
            app.add("credits.5")
            await app.observer.diary.wait(for: "purchased")
            SlowFiles.isSlow.withLock { $0 = true }
            // Run first.
            atexit { SlowFiles.gate.signal() }

            for transaction in app.queue.transactions { app.queue.finishTransaction(transaction) }
            withExtendedLifetime(app) { exit(0) }
        }
    }

    /// Serves with OpenSSL until its parent is gone, which exits and so ends
    /// no child, and holds none of the parent's descriptors open meanwhile:
    /// those tell the test that the parent has ended.
    private static let serve = """
        parent=$PPID
        for open in /proc/$$/fd/*; do
            number=${open##*/}
            [ "$number" -gt 2 ] && eval "exec $number>&-"
        done
        openssl s_server -4 -accept 0 -cert certificate.pem -key key.pem -www &
        while kill -0 $parent 2>/dev/null; do sleep 0.2; done
        kill -KILL $!
        """

    /// A server whose certificate nobody trusts.
    private static func server() async throws -> (child: ChildProcess, url: URL) {
        let folder = try TemporaryFolder()
        let place = URL(fileURLWithPath: folder.path)
        let made = try await ChildProcess.run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-keyout", "key.pem", "-out", "certificate.pem", "-subj", "/CN=nobody",
            ], folder: place)
        try #require(made.status == 0, "\(made.errors)")
        let child = try ChildProcess(["bash", "-c", serve], folder: place)
        let line = try #require(await child.line(with: "ACCEPT"))
        let port = try #require(line.split(separator: ":").last)
        return (child, try #require(URL(string: "https://127.0.0.1:\(port)")))
    }
}

/// Files in memory whose writes wait at a gate once they are slow. What a
/// handler of `atexit` uses cannot be captured, so it is the process's own.
private struct SlowFiles: DeviceFiles {
    static let memory = MemoryFiles()
    static let gate = DispatchSemaphore(value: 0)
    static let isSlow = Mutex(false)

    func replace(_ files: [DeviceFile]) throws {
        if Self.isSlow.withLock({ $0 }) { Self.gate.wait(for: "the end of slowness") }
        try Self.memory.replace(files)
    }

    func read(_ name: String) throws -> [UInt8]? { try Self.memory.read(name) }
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try Self.memory.withLock(body)
    }
    func claim(launch: String) throws { try Self.memory.claim(launch: launch) }
    func release(launch: String) { Self.memory.release(launch: launch) }
    func isClaimed(launch: String) -> Bool { Self.memory.isClaimed(launch: launch) }
    func url(of name: String) -> URL? { Self.memory.url(of: name) }
}
