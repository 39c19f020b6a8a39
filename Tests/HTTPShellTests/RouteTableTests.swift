// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Testing

@Suite(.timeLimit(.minutes(1))) struct RouteTableTests {
    enum Access: Hashable { case open, closed }

    let table = RouteTable<Access, Void>([
        ServerRoute("GET", "/things", .open) { .empty(status: 200) },
        ServerRoute("GET", "/things/{}", .open) { .empty(status: 200) },
        ServerRoute("PUT", "/things/{}", .closed) { .empty(status: 200) },
        ServerRoute("GET", "/things/{}/parts/{}", .open) { .empty(status: 200) },
    ])

    @Test(arguments: [
        ("GET", "/things", "/things", []),
        ("GET", "/things/a", "/things/{}", ["a"]),
        ("PUT", "/things/a%2Fb", "/things/{}", ["a/b"]),
        ("GET", "/things/é/parts/%C3%A9", "/things/{}/parts/{}", ["é", "é"]),
        // A name of its own, though Foundation would drop the first character.
        (
            "GET", "/things/%EF%BB%BFa/parts/a%EF%BB%BF", "/things/{}/parts/{}",
            ["\u{FEFF}a", "a\u{FEFF}"]
        ),
    ])
    func `a route is found by method and path, its parts are decoded`(
        method: String, path: String, pattern: String, parts: [String]
    ) throws {
        let found = try #require(try table.find(method, path))

        #expect(found.route.pattern == pattern)
        #expect(
            found.parts.raw.indices.map { Array(found.parts[$0].utf8) }
                == parts.map { Array($0.utf8) })
    }

    @Test(arguments: ["/", "", "/thing", "/things/", "/things/a/parts", "/things/a/parts/", "//a"])
    func `a path of no route is not found`(path: String) throws {
        #expect(try table.find("GET", path) == nil)
    }

    @Test func `another method is refused with those that are allowed`() {
        #expect(throws: RequestMistake.wrongMethod(allowed: ["GET", "PUT"])) {
            try table.find("DELETE", "/things/a")
        }
    }

    @Test func `a route that is not offered does not exist`() throws {
        #expect(throws: RequestMistake.wrongMethod(allowed: ["GET"])) {
            try table.find("PUT", "/things/a") { $0.access == .open }
        }
        #expect(try table.find("GET", "/things") { $0.access == .closed } == nil)
    }
}
