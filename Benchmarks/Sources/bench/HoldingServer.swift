// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Synchronization

/// A bare server that answers no request: what a waiting device costs before anything of
/// ours is counted.
enum HoldingServer {
    private static let held = Mutex<[CheckedContinuation<Void, Never>]>([])

    /// Serves until it is killed; prints the port when it listens.
    static func serve() async throws {
        try await BareServer.serve("hold") {
            await hold()
            return Response(status: .ok)
        }
    }

    private static func hold() async {
        await withCheckedContinuation { continuation in held.withLock { $0.append(continuation) } }
    }
}
