// SPDX-License-Identifier: Apache-2.0

package import Hummingbird

/// One route: its method, its pattern, the key that it needs, and what answers
/// it. `Access` has the kinds of key of a server. `Visit` is a call whose key
/// was checked.
package struct ServerRoute<Access: Hashable & Sendable, Visit: Sendable>: Sendable {
    package let method: String
    /// `{}` stands for any part that is not empty.
    package let pattern: String
    package let access: Access
    package let answer: @Sendable (Visit) async throws -> Response
    fileprivate let wanted: [Substring]

    package init(
        _ method: String, _ pattern: String, _ access: Access,
        _ answer: @escaping @Sendable (Visit) async throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        self.access = access
        self.answer = answer
        wanted = PathParts.split(pattern)
    }

    /// The variable parts if the path matches the pattern; else nil.
    fileprivate func match(_ parts: [Substring]) -> PathParts? {
        guard wanted.count == parts.count else { return nil }
        var open: [String] = []
        for (want, part) in zip(wanted, parts) {
            if want == "{}" {
                guard !part.isEmpty else { return nil }
                open.append(String(part))
            } else if want != part {
                return nil
            }
        }
        return PathParts(raw: open)
    }
}

/// The variable parts of a path.
package struct PathParts: Hashable, Sendable {
    /// As they came.
    package let raw: [String]

    /// A part without its percent-encoding.
    package subscript(part: Int) -> String {
        PercentEncoding.decode(raw[part]) ?? raw[part]
    }

    fileprivate static func split(_ path: String) -> [Substring] {
        path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Substring($0) }
    }
}

/// The routes of a server.
package struct RouteTable<Access: Hashable & Sendable, Visit: Sendable>: Sendable {
    package let all: [ServerRoute<Access, Visit>]
    private let byCount: [Int: [ServerRoute<Access, Visit>]]

    package init(_ all: [ServerRoute<Access, Visit>]) {
        self.all = all
        byCount = Dictionary(grouping: all) { $0.wanted.count }
    }

    /// Finds the route of a request among those that `isOffered` accepts. Nil if
    /// none has the path. Throws `wrongMethod` if some have it for other methods.
    package func find(
        _ method: String, _ path: String,
        where isOffered: (ServerRoute<Access, Visit>) -> Bool = { _ in true }
    ) throws(RequestMistake) -> (route: ServerRoute<Access, Visit>, parts: PathParts)? {
        let parts = PathParts.split(path)
        var allowed: [String] = []
        for route in byCount[parts.count, default: []] where isOffered(route) {
            guard let open = route.match(parts) else { continue }
            if route.method == method { return (route, open) }
            allowed.append(route.method)
        }
        guard allowed.isEmpty else { throw .wrongMethod(allowed: allowed) }
        return nil
    }
}
