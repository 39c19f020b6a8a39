// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import Outbound

/// A merchant's server for inspection: it receives notifications, prints them,
/// and forwards them if an address is given.
struct Listener: Sendable {
    static let bodyBytesMax = 512 * 1024

    let port: Int
    let forwardTo: String?
    /// Which messages of the HTTP server are printed.
    var logLevel = Logger.Level.error
    let verifying: @Sendable () async -> Verifying
    let heard: @Sendable (HeardNotification) -> Void
    private let client = OutboundClient(policy: .open)

    init(
        port: Int, forwardTo: String?, verifying: @escaping @Sendable () async -> Verifying,
        heard: @escaping @Sendable (HeardNotification) -> Void
    ) {
        self.port = port
        self.forwardTo = forwardTo
        self.verifying = verifying
        self.heard = heard
    }

    /// Listens on loopback until a signal ends it.
    func run(onReady: @escaping @Sendable (_ port: Int) -> Void) async throws {
        var logger = Logger(label: "listen")
        logger.logLevel = logLevel
        let port = port
        let application = Application(
            responder: CallbackResponder { (request: Request, _: BasicRequestContext) in
                try await answer(request)
            },
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in onReady(channel.localAddress?.port ?? port) },
            logger: logger)
        do { try await application.runService() } catch is CancellationError {}
    }

    private func answer(_ request: Request) async throws -> Response {
        guard request.method == .post else { return Response(status: .methodNotAllowed) }
        let buffer = try await request.body.collect(upTo: Self.bodyBytesMax)
        let body = Array(buffer.readableBytesView)
        var notification = HeardNotification(body, by: await verifying().verifier)
        var response = Response(status: notification.isVerified ? .ok : .badRequest)
        if let forwardTo {
            response = await forward(body, request, to: forwardTo, &notification)
        }
        heard(notification)
        return response
    }

    /// Forwards the unchanged bytes, and answers like the other server did.
    private func forward(
        _ body: [UInt8], _ request: Request, to url: String,
        _ notification: inout HeardNotification
    ) async -> Response {
        var headers = [OutboundRequest.Header("Content-Type", "application/json")]
        if let name = HTTPFields.Element.Name("X-Request-Id"),
            let id = request.headers[name]
        {
            headers.append(.init("X-Request-Id", id))
        }
        do throws(OutboundFault) {
            let answer = try await client.send(
                OutboundRequest("POST", url, headers: headers, body: body))
            notification.forwardStatus = answer.status
            return Response(
                status: .init(code: answer.status),
                body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
        } catch {
            notification.forwardProblem = error.reason
            return Response(status: .badGateway)
        }
    }
}
