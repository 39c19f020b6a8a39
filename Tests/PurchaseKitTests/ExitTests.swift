// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
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
    /// In handshakes what lies below URLSession is busiest: a process that
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
