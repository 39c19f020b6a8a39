// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@Suite struct OfficialHostsTests {
    @Test(
        arguments: [
            ("api.storekit.apple.com", "Production"),
            ("api.storekit.itunes.apple.com", "Production"),
            ("buy.itunes.apple.com", "Production"),
            ("api.storekit-sandbox.apple.com", "Sandbox"),
            ("api.storekit-sandbox.itunes.apple.com", "Sandbox"),
            ("sandbox.itunes.apple.com", "Sandbox"),
            ("API.StoreKit.Apple.com.", "Production"),
            ("apple.com", nil), ("storekit.apple.com", nil), ("x.api.storekit.apple.com", nil),
            ("api.storekit.apple.com.example", nil), ("api.storekit.apple.com..", nil), ("", nil),
        ] as [(String, String?)])
    func `a host has its environment`(host: String, environment: String?) {
        #expect(OfficialHosts.environment(of: host)?.rawValue == environment)
    }
}
