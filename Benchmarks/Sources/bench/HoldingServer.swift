// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Logging
import Synchronization

/// A bare server of the HTTP library that answers no request: what a waiting
/// device costs before anything of ours is counted.
enum HoldingServer {
    private static let held = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// Serves until it is killed; prints the port when it listens.
    static func serve() async throws {
        let router = Router()
        router.get("hold") { _, _ in
            await hold()
            return Response(status: .ok)
        }
        var logger = Logger(label: "bare")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                FileHandle.standardOutput.write(Data("\(port)\n".utf8))
            }, logger: logger)
        try await application.run()
    }

    private static func hold() async {
        await withCheckedContinuation { continuation in held.withLock { $0.append(continuation) } }
    }
}
