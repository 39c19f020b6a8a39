// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The variables by which an app, a device and a merchant's server find a
/// store.
struct StoreVariables {
    let pairs: [(name: String, value: String)]

    init(_ run: RunFile, realm: String? = nil) {
        let url = run.publicUrl ?? run.url
        var pairs = [
            ("SHOPKEEPER_URL", realm.map { "\(url)/realms/\($0)" } ?? url),
            ("SHOPKEEPER_BUNDLE_ID", run.bundleId),
            ("SHOPKEEPER_DEVICE", run.data + "/devices/app"),
            ("SHOPKEEPER_ROOT", run.root),
            ("SHOPKEEPER_SHEET", "confirm"),
            ("SHOPKEEPER_DATA", run.data),
            ("SHOPKEEPER_SERVER_KEY", run.serverKey),
            ("SHOPKEEPER_SERVER_KEY_ID", run.serverKeyId),
            ("SHOPKEEPER_ISSUER_ID", run.issuerId),
        ]
        if let url = run.tlsUrl { pairs.append(("SHOPKEEPER_TLS_URL", url)) }
        if let appID = run.appAppleId { pairs.append(("SHOPKEEPER_APP_ID", "\(appID)")) }
        self.pairs = pairs
    }

    var dictionary: [String: String] {
        Dictionary(uniqueKeysWithValues: pairs.map { ($0.name, $0.value) })
    }

    /// Lines for a shell's `eval`.
    var shell: String {
        pairs.map { name, value in
            "export \(name)=" + ShellWord.quoted(value, always: true)
        }.joined(separator: "\n")
    }

    /// Lines of a `.env` file. Many readers, including shells, expand `$` and
    /// backticks, so both are escaped.
    var dotenv: String {
        pairs.map { name, value in
            let escaped = value.map { character in
                switch character {
                case "\\", "\"", "$", "`": "\\\(character)"
                case "\n": "\\n"
                case "\r": "\\r"
                default: String(character)
                }
            }
            return "\(name)=\"\(escaped.joined())\""
        }.joined(separator: "\n")
    }
}

/// Quotes any text as one word for a shell.
enum ShellWord {
    /// In quotes, unless the word is plain and `always` is false.
    static func quoted(_ word: String, always: Bool = false) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-._/:".utf8.contains(byte)
            }
        }
        if isPlain, !word.isEmpty, !always { return word }
        return "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
