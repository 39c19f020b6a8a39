// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Somebody else's validator judges `docs/openapi.json`. Where Python or it is
/// missing these tests fail: `make test` installs them.
@Suite(.timeLimit(.minutes(15))) struct OpenAPITests {
    private let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func page() throws -> [String: Any] {
        let file = URL(fileURLWithPath: try PackageRoot.path() + "/docs/openapi.json")
        let page = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        return try #require(page as? [String: Any])
    }

    /// What the validator says of a page; empty when nothing.
    private func judged(_ page: [String: Any]) async throws -> String {
        let file = rig.path("openapi.json")
        try JSONSerialization.data(withJSONObject: page).write(to: URL(fileURLWithPath: file))
        let outcome = try await rig.run(
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/openapi.py", file)
        try #require(
            [0, 1].contains(outcome.status) && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect((outcome.status == 0) == outcome.output.isEmpty)
        return outcome.output
    }

    @Test func `the description of every address is OpenAPI 3.0`() async throws {
        #expect(try await judged(page()) == "")
    }

    @Test(
        arguments: [
            (["paths", "/control/v1/clock", "get", "responses"], nil, "is a required property"),
            (
                ["paths", "/control/v1/clock", "get", "operationId"], "postControlVClock",
                "is not unique"
            ),
            (["components", "schemas", "ClockDescription", "type"], "thing", "'thing'"),
            (
                ["components", "schemas", "ClockDescription"], nil,
                "there is no #/components/schemas"
            ),
            (["openapi"], "3.1.0", "is not 3.0"),
        ] as [([String], (any Sendable)?, String)])
    func `a page that is spoilt is refused`(
        path: [String], value: (any Sendable)?, told: String
    ) async throws {
        let spoilt = Self.changed(try page(), path[...], to: value)

        #expect(try await judged(spoilt).contains(told))
    }

    /// Somebody else's fuzzer reads the page and asks a store by it, the same
    /// requests every time: four of each kind, and sixty in `make soak`.
    @Test func `a store answers only what the page describes`() async throws {
        let outcome = try await ChildProcess.run(
            [
                try Rig.python(), try PackageRoot.path() + "/Tests/Peers/fuzz_openapi.py",
                "shopkeeper", "serve", "--port", "0", "--in-memory", "--json", "--scrypt-rounds",
                "2", SeededShare.isAll ? "60" : "4",
            ], environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path),
            // It is one process among many, and takes half a minute by itself.
            within: .seconds(600))

        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    }

    private static func changed(
        _ object: [String: Any], _ path: ArraySlice<String>, to value: Any?
    ) -> [String: Any] {
        guard let key = path.first else { return object }
        var object = object
        let inner = object[key] as? [String: Any]
        object[key] =
            path.count == 1 ? value : changed(inner ?? [:], path.dropFirst(), to: value)
        return object
    }
}
