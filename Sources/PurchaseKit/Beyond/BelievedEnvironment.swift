// SPDX-License-Identifier: Apache-2.0

/// The environment variables that the process's own device reads: all in a
/// debug build, none in a release build. Otherwise anyone could point a shipped
/// app to a store of their own.
struct BelievedEnvironment: Hashable, Sendable {
    let variables: [String: String]
    /// A sentence for the developer if a variable was set without effect.
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
