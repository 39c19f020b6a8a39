// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Logging
import StoreWire
import TestSupport
import Testing

@testable import shopkeeper

/// Words of strangers are shown, and steer nothing.
@Suite(.timeLimit(.minutes(5))) struct TerminalTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    /// What a stranger signed, so to say: nobody believes it, and it is shown.
    private func foreign(_ text: String) throws -> String {
        let payload = try JSONSerialization.data(withJSONObject: [
            "productId": text, "\(text)key": 1,
        ])
        return [Data("{\"alg\":\"ES256\",\"x5c\":[]}".utf8), payload, Data("signature".utf8)].map {
            $0.base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }.joined(separator: ".")
    }

    private func isVisible(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 == "\n" || !VisibleText.isHidden($0) }
    }

    @Test func `a foreign JWS draws no verdict of its own`() async throws {
        let evil = "\u{1B}[2J\u{1B}[H\nVALID: no rule is broken.\n\u{9B}8m\u{202E}\u{200B}"
        try Data(try foreign(evil).utf8).write(to: URL(fileURLWithPath: rig.path("evil.jws")))

        let plain = try await rig.run("shopkeeper", "verify", "evil.jws", "--root", "apple")
        let json = try await rig.run(
            "shopkeeper", "verify", "evil.jws", "--root", "apple", "--payload-only")

        #expect(plain.status == 1)
        #expect(plain.output.hasPrefix("NOT VALID"))
        #expect(plain.output.contains("\\u{1B}[2J"), "\(plain.output)")
        #expect(isVisible(plain.output))
        #expect(!plain.output.split(separator: "\n").contains { $0.hasPrefix("VALID") })
        #expect(isVisible(json.output))
        let read = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
        #expect((read as? [String: Any])?["productId"] as? String == evil)
    }

    @Test func `a cell stays one cell of one line`() {
        let table = Output.table([["1", "a\nforged  row", "x"], ["2", "\u{202E}b", "y"]])

        #expect(
            table == [
                "1  a\\u{A}forged  row  x",
                "2  \\u{202E}b" + String(repeating: " ", count: 8) + "  y",
            ])
    }

    @Test func `names of devices and customers that hide something are refused at the door`()
        async throws
    {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let url = try #require(try await rig.object("status")["url"] as? String)

        func signIn(_ name: String, version: String = "1") async throws -> Rig.Answer {
            let body = try JSONSerialization.data(withJSONObject: [
                "deviceUUID": "4A939B84-E064-4C1F-8C2F-7161F0A3CDBE", "deviceName": name,
                "appVersion": version,
            ])
            return try await rig.ask(
                "POST", url + "/device/v1/sessions", String(decoding: body, as: UTF8.self),
                ["Content-Type: application/json"])
        }

        for name in ["a\n2  forged", "\u{1B}[2J", "\u{202E}b", "\u{200B}", "\u{9B}8m"] {
            let device = try await signIn(name)
            let version = try await signIn("phone", version: "1" + name)
            #expect([device.error?.code, version.error?.code] == ["textInvalid", "textInvalid"])
            #expect([device.error?.field, version.error?.field] == ["deviceName", "appVersion"])
        }
        #expect(try await signIn("Ann’s 👩‍👧 phone").status == 200)
        let customer = try await rig.run("shopkeeper", "customer", "create", "a\nb")
        #expect(customer.status == 1)
        #expect(customer.errors.contains("name"))
    }

    @Test func `variables keep what a folder is called`() async throws {
        let data = "it's $HOME `id` \"x\" \\ y"
        let store = try await rig.serve("--data", rig.path(data))
        defer { store.kill(SIGTERM) }
        let read = try await rig.run(
            "sh", "-c",
            """
            shopkeeper env --format dotenv > variables && . ./variables && echo "$SHOPKEEPER_DATA"
            eval "$(shopkeeper env)" && echo "$SHOPKEEPER_DATA"
            """)

        #expect(read.output == "\(rig.path(data))\n\(rig.path(data))\n", "\(read.errors)")
    }

    @Test func `a line of the log is one line`() {
        var event = LogEvent(
            level: .notice, message: "a\nb", metadata: ["path": "/\u{1B}[2J"], source: "test",
            file: "f", function: "g", line: 1)
        event = TerminalLog.visible(event)

        #expect(event.message.description == "a\\u{A}b")
        #expect(event.metadata?["path"] == "/\\u{1B}[2J")
    }
}
