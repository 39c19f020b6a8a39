// SPDX-License-Identifier: Apache-2.0

/// A setting that is switched on and stored, but does not have its full effect.
public struct UnobeyedSetting: Hashable, Sendable {
    /// Its key in catalogue files.
    public let key: String
    /// The effect that it should have.
    public let rule: String
    /// What happens instead.
    public let remedy: String
}

extension SandboxSettings {
    /// The calls that devices make and that can be made to fail.
    public static let failingCalls: Set<SimulatedError.Call> = [.loadProducts, .purchase]

    /// The settings that are switched on without full effect: errors of calls that
    /// devices do not make yet.
    public var unobeyed: [UnobeyedSetting] {
        errors.filter { !Self.failingCalls.contains($0.call) }.map {
            UnobeyedSetting(
                key: "_storeKitErrors",
                rule: "no device makes the call \($0.call.rawValue) here yet",
                remedy: "its simulated error is kept and shown, and fails nothing")
        }
    }
}
