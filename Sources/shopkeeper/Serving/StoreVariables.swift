// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The variables by which an app, a device and a merchant's server find a store.
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
        if let appID = run.appAppleId { pairs.append(("SHOPKEEPER_APP_ID", "\(appID)")) }
        self.pairs = pairs
    }

    var dictionary: [String: String] {
        Dictionary(uniqueKeysWithValues: pairs.map { ($0.name, $0.value) })
    }

    /// Lines that a shell can read with `eval`.
    var shell: String {
        pairs.map { name, value in
            "export \(name)='\(value.replacingOccurrences(of: "'", with: "'\\''"))'"
        }.joined(separator: "\n")
    }

    /// Lines of a `.env` file.
    var dotenv: String {
        pairs.map { name, value in
            let escaped = value.replacingOccurrences(of: "\\", with: "\\\\")
                .replacingOccurrences(of: "\"", with: "\\\"")
            return "\(name)=\"\(escaped)\""
        }.joined(separator: "\n")
    }
}
