// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Shop
import StoreWire
import Testing

@testable import ShopServer

/// The device protocol over HTTP against the same calls within the process: the
/// statuses and bodies are the same.
@Suite(.timeLimit(.minutes(5))) struct CarrierTests {
    /// A body without the time of its answer.
    private static func timeless(_ text: String) -> String {
        text.replacing(#/"now":\d+/#, with: "")
    }

    private static func timeless(_ body: [UInt8]) -> String {
        timeless(String(decoding: body, as: UTF8.self))
    }

    private static let purchase = DeviceRoute.purchase(id: "00000000-0000-4000-8000-00000000000A")

    /// Half a request with a password, and then nobody: the connection closes in the
    /// middle of its body, or while the password is hashed.
    @Test func `clients that leave while they sign in leave a server that answers`() async throws {
        try await TestServer.with { server in
            let body =
                #"{"bundleId":"\#(TestServer.bundleID)","customer":"nobody","#
                + #""deviceUUID":"00000000-0000-4000-8000-00000000abcd","password":"wrong"}"#
            for length in [body.utf8.count + 1, body.utf8.count, body.utf8.count] {
                for _ in 1...8 {
                    let connection = try RawConnection(port: server.port)
                    try connection.send(
                        Array(
                            """
                            POST /device/v1/sessions HTTP/1.1\r
                            Host: localhost\r
                            Content-Type: application/json\r
                            Content-Length: \(length)\r
                            \r
                            \(body)
                            """.utf8))
                }
            }
            #expect(try await server.send("GET", "/health").status == 200)
        }
    }

    @Test(
        arguments: [
            (DeviceRoute.signIn, "{}", nil), (.signIn, "[", nil),
            (.signIn, #"{"deviceUUID": "no"}"#, nil),
            (.products, #"{"ids": ["com.example.none"]}"#, "token"),
            (.products, #"{"ids": 1}"#, "token"), (.products, #"{"ids": []}"#, nil),
            (.products, #"{"ids": []}"#, "nobody"),
            (purchase, "{}", "token"), (purchase, #"{"a": 1, "a": 2}"#, "token"),
            (.purchase(id: "1"), "{}", "token"), (purchase, "{}", nil),
            (.transactions(since: 0, waitSeconds: 0), nil, "token"),
            (.transactions(since: 0, waitSeconds: 0), nil, nil),
            (.transactions(since: 0, waitSeconds: 0), nil, "nobody"),
            (.finish(transactionID: "1"), nil, "token"),
            (.finish(transactionID: "x"), nil, "token"), (.finish(transactionID: "1"), nil, nil),
            (.receipt, nil, "nobody"), (.receipt, nil, nil),
        ] as [(DeviceRoute, String?, String?)])
    func `a call has the same answer however it is carried`(
        route: DeviceRoute, body: String?, token: String?
    ) async throws {
        try await TestServer.with { server in
            let keys = try await server.keys()
            let token = token == "token" ? keys[.device] : token
            let bytes = body.map { Array($0.utf8) }
            let realm = try await server.store.realm(named: Store.defaultRealm)

            let far = try await server.send(route.method, route.path, bytes, bearer: token)
            let near: DeviceReply
            do {
                near = try await realm.devices.answer(
                    DeviceCall(route: route, body: bytes, token: token, requestID: "r"),
                    RequestContext(requestID: "r"), sleep: { _ in })
            } catch { near = DeviceRoom.reply(to: error) }

            #expect(far.status == near.status)
            #expect(Self.timeless(far.text) == Self.timeless(near.body))
        }
    }
}
