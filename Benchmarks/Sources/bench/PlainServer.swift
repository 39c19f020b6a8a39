// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// A bare server that answers every request with the same bytes: what an answer of this
/// size costs before anything of ours is counted.
enum PlainServer {
    /// Serves until it is killed; prints the port when it listens.
    static func serve(bytes count: Int) async throws {
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: count)
        try await BareServer.serve("plain") {
            Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: body))
        }
    }
}
