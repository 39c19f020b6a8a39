// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A browser without scripts: it keeps cookies, and follows no redirect by itself.
final class Browser {
    struct Page {
        let status: Int
        let head: String
        let text: String

        /// The value of a line of the head.
        func header(_ name: String) -> String? {
            head.split(separator: "\r\n").first {
                $0.lowercased().hasPrefix(name.lowercased() + ": ")
            }.map { String($0.dropFirst(name.count + 2)) }
        }

        /// The token that the page's forms carry.
        var formToken: String? {
            text.firstMatch(of: /name="form" value="([0-9a-f]+)"/).map { String($0.1) }
        }
    }

    private let server: TestServer
    private(set) var cookies: [String: String] = [:]

    init(_ server: TestServer) { self.server = server }

    func get(_ path: String, _ lines: [String] = []) async throws -> Page {
        try await ask("GET", path, lines, nil)
    }

    /// Sends a form with these fields. `Origin` and `Sec-Fetch-Site` are those of the
    /// store's own page, unless `lines` has others.
    func post(
        _ path: String, _ fields: [String: String], _ lines: [String]? = nil
    ) async throws -> Page {
        let body = fields.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        let own = ["Origin: http://127.0.0.1:\(server.port)", "Sec-Fetch-Site: same-origin"]
        return try await ask(
            "POST", path,
            (lines ?? own) + ["Content-Type: application/x-www-form-urlencoded"], body)
    }

    /// Signs in from the page that is there for it.
    func signIn(_ name: String, _ password: String, base: String = "") async throws -> Page {
        let token = try #require(try await get("\(base)/store/sign-in").formToken)
        return try await post(
            "\(base)/store/sign-in", ["form": token, "name": name, "password": password])
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private func ask(
        _ method: String, _ path: String, _ lines: [String], _ body: String?
    ) async throws -> Page {
        let connection = try RawConnection(port: server.port)
        var head = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(server.port)"] + lines
        if !cookies.isEmpty {
            head.append("Cookie: " + cookies.map { "\($0)=\($1)" }.joined(separator: "; "))
        }
        if let body { head.append("Content-Length: \(body.utf8.count)") }
        try connection.send(
            (head + ["Connection: close", "", ""]).joined(separator: "\r\n") + (body ?? ""))
        let answer = await connection.receive()
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
        let top = try #require(parts.first)
        let page = Page(
            status: Int(top.dropFirst(9).prefix(3)) ?? 0, head: top,
            text: parts.count > 1 ? parts[1] : "")
        for line in top.split(separator: "\r\n") where line.hasPrefix("Set-Cookie: ") {
            let pair = line.dropFirst(12).prefix { $0 != ";" }
                .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            cookies[String(pair[0])] = line.contains("Max-Age=0") ? nil : String(pair[1])
        }
        return page
    }
}
