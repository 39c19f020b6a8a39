// SPDX-License-Identifier: Apache-2.0

/// What of its environment a process's own device believes: in a debug build
/// all, in a release build nothing, for anyone could point a shipped app to a
/// store of their own.
struct BelievedEnvironment: Hashable, Sendable {
    let variables: [String: String]
    /// A sentence for the developer, when something was set in vain.
    let warning: String?

    init(_ environment: [String: String], isDebugBuild: Bool) {
        variables = isDebugBuild ? environment : [:]
        let ignored =
            isDebugBuild ? [] : DeviceConfiguration.variables.filter { environment[$0] != nil }
        warning =
            ignored.isEmpty
            ? nil
            : "a release build ignores \(ignored.joined(separator: ", ")); its code may call "
                + "Device.configureDefault(.fromEnvironment())"
    }
}
