// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Logging

/// A bare server of the HTTP library that answers every request with the same bytes: what
/// an answer of this size costs before anything of ours is counted.
enum PlainServer {
    /// Serves until it is killed; prints the port when it listens.
    static func serve(bytes count: Int) async throws {
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: count)
        let router = Router()
        router.get("plain") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: .init(byteBuffer: body))
        }
        var logger = Logger(label: "plain")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                FileHandle.standardOutput.write(Data("\(port)\n".utf8))
            }, logger: logger)
        try await application.run()
    }
}
