// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The hosts at which Apple answers merchants' servers. A client without a
/// setting for another address asks them, so a store may answer in their place.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi)
public enum OfficialHosts {
    private static let production = [
        "api.storekit.apple.com", "api.storekit.itunes.apple.com", "buy.itunes.apple.com",
    ]
    private static let sandbox = [
        "api.storekit-sandbox.apple.com", "api.storekit-sandbox.itunes.apple.com",
        "sandbox.itunes.apple.com",
    ]

    /// Where Apple's libraries look for a store in the environment `LocalTesting`. No
    /// such host exists.
    private static let localTesting = ["local-testing-base-url"]

    /// All of them, in lower case.
    public static let all = production + sandbox + localTesting

    /// Returns the environment that a host serves. Nil for any other host.
    /// Capital letters and one dot at the end make no difference.
    public static func environment(of host: String) -> Environment? {
        var name = host.lowercased()
        if name.last == "." { name.removeLast() }
        if production.contains(name) { return .production }
        if localTesting.contains(name) { return .localTesting }
        return sandbox.contains(name) ? .sandbox : nil
    }
}
