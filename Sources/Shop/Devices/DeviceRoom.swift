// SPDX-License-Identifier: Apache-2.0

/// What a device may ask: the device protocol.
public struct DeviceRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// What a device may ask: the device protocol.
    public var devices: DeviceRoom { DeviceRoom(realm: self) }
}
