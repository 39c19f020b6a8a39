// SPDX-License-Identifier: Apache-2.0

import Foundation
import Shop
import StoreWire
import TestSupport
import Testing

/// `docs/PROTOCOL.md` tells the truth: each request on it is sent, in order,
/// and its answer compared with the printed one.
@Suite(.timeLimit(.minutes(5))) struct ProtocolPageTests {
    struct Block {
        let first: [String]
        let headers: [String: String]
        let body: String

        init(_ lines: [String]) {
            first = (lines.first ?? "").split(separator: " ").map(String.init)
            let end = lines.firstIndex(of: "") ?? lines.endIndex
            var headers: [String: String] = [:]
            for line in lines[..<end].dropFirst() {
                let sides = line.components(separatedBy: ": ")
                headers[sides[0]] = sides.dropFirst().joined(separator: ": ")
            }
            self.headers = headers
            body = lines[end...].joined(separator: "\n")
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    @Test func `every example of the page is true`() async throws {
        let page = try String(
            contentsOfFile: PackageRoot.path() + "/docs/PROTOCOL.md", encoding: .utf8)
        let blocks = Self.blocks(of: page)
        try #require(blocks.count >= 20 && blocks.count.isMultiple(of: 2))
        try await TestServer.with { server in
            var words = [
                "OPERATOR_KEY": try await server.store.doorKey(.operator),
                "CONTROL_KEY": try await server.store.doorKey(.control),
            ]
            for index in stride(from: 0, to: blocks.count, by: 2) {
                let (request, answer) = (blocks[index], blocks[index + 1])
                let reply = try await server.send(request, words)
                let title = request.first.joined(separator: " ")
                #expect(answer.first == ["HTTP/1.1", "\(reply.status)"], "\(title): \(reply.text)")
                for (name, value) in answer.headers { #expect(reply.header(name) == value) }
                guard !answer.body.isEmpty else { continue }
                let printed = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
                let told = try JSONSerialization.jsonObject(with: Data(reply.body))
                let difference = Self.difference(printed, told)
                #expect(difference == nil, "\(title): \(difference ?? "") in \(reply.text)")
                words.merge(Self.words(in: told)) { first, _ in first }
            }
        }
    }

    @Test func `every code of the shell is on the page`() throws {
        let root = try PackageRoot.path()
        let page = try String(contentsOfFile: root + "/docs/PROTOCOL.md", encoding: .utf8)
        let files = [
            "ShopServer/ErrorResponse.swift", "Shop/Devices/DeviceRoom+Answer.swift",
            "HTTPShell/ErrorWords+Mistake.swift", "WireErrors/ErrorWords.swift",
        ]
        let source = try files.map {
            try String(contentsOfFile: root + "/Sources/" + $0, encoding: .utf8)
        }.joined()
        let codes = source.components(separatedBy: "code: \"").dropFirst()
            .compactMap { $0.components(separatedBy: "\"").first }
        #expect(codes.count > 15)
        for code in codes where code != "clientGone" {
            #expect(page.contains("`\(code)`"), "\(code)")
        }
    }

    private static func blocks(of page: String) -> [Block] {
        page.components(separatedBy: "```http\n").dropFirst().compactMap { part in
            part.components(separatedBy: "\n```").first.map {
                Block($0.components(separatedBy: "\n"))
            }
        }
    }

    /// What later examples stand for: the first token and transaction told.
    private static func words(in told: Any) -> [String: String] {
        guard let object = told as? [String: Any] else { return [:] }
        var words: [String: String] = [:]
        if let token = object["token"] as? String { words["TOKEN"] = token }
        if let signed = object["signedTransaction"] as? String {
            let payload = String(signed.split(separator: ".")[1])
            words["TRANSACTION"] = Base64URL.transactionID(payload)
        }
        return words
    }

    /// Where what was told is not what is printed; nil when it is.
    private static func difference(_ printed: Any, _ told: Any, at path: String = "") -> String? {
        switch (printed, told) {
        case (let printed as [String: Any], let told as [String: Any]):
            guard printed.keys.sorted() == told.keys.sorted() else {
                return "\(path): \(printed.keys.sorted()) is printed, \(told.keys.sorted()) told"
            }
            return printed.lazy.compactMap { key, value in
                told[key].flatMap { difference(value, $0, at: "\(path).\(key)") }
            }.first
        case (let printed as [Any], let told as [Any]):
            guard printed.count == told.count else { return "\(path): \(told.count) elements" }
            return zip(printed, told).lazy.compactMap { difference($0, $1, at: path + "[]") }.first
        case (let printed as String, let told as String):
            return printed == "…" || printed == told ? nil : "\(path): \(told)"
        case (let printed as NSNumber, let told as NSNumber):
            let isExact = ["price", "isFinished", "isStanding", "isSold", "revision", "generation"]
                .contains {
                    path.hasSuffix("." + $0)
                }
            return !isExact || printed == told ? nil : "\(path): \(told)"
        default: return "\(path): another type"
        }
    }
}

extension TestServer {
    /// Sends a printed request, with its words in capitals replaced.
    fileprivate func send(
        _ block: ProtocolPageTests.Block, _ words: [String: String]
    ) async throws -> Reply {
        func filled(_ text: String) -> String {
            words.reduce(text) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        }
        var headers = block.headers.mapValues(filled)
        if headers["Authorization"] == nil { headers["Authorization"] = "" }
        return try await send(
            block.first[0], filled(block.first[1]),
            block.body.isEmpty ? nil : Array(block.body.utf8),
            headers: headers.filter { !$0.value.isEmpty })
    }
}
