// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop

/// A path without its realm's prefix `/realms/NAME`.
struct RealmPath: Hashable, Sendable {
    /// The realm in the prefix. Nil without a prefix.
    let realm: String?
    /// The rest, which begins with a slash.
    let path: String

    init(_ path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        // ["", "realms", NAME, "device", …]
        if parts.count > 3, parts[1] == "realms" {
            realm = String(parts[2])
            self.path = "/" + parts[3...].joined(separator: "/")
        } else {
            realm = nil
            self.path = path
        }
    }
}

extension RealmRoute {
    /// Returns the name of the realm that a call's address selects. Nil if
    /// nothing selects one.
    func realm(of call: Call, _ address: RealmPath) -> String? {
        realm(
            prefix: address.realm, host: call.approach.host, listener: call.approach.listener)
    }
}

extension MatchedRequest {
    /// The facts for the log about a request to a realm. A text in the place of
    /// a name that cannot be one may be a secret that got into an address by
    /// mistake.
    static func facts(realm: String?) -> [String: String] {
        let name = realm ?? Store.defaultRealm
        let isName =
            name.utf8.count <= 40
            && name.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
            }
        return ["realm": isName ? name : "unknown"]
    }
}
