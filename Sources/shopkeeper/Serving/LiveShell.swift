// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Live
import Logging
import StoreWire

extension ShellPorts {
    /// Uses this machine's time, randomness and file descriptors.
    static var live: ShellPorts {
        var ports = ShellPorts(
            sleep: { try await Live.sleep($0) }, monotonic: { Live.monotonic() },
            randomness: Live.randomness)
        ports.openDescriptors = { Live.openDescriptors() }
        return ports
    }
}

extension ShellConfiguration {
    /// Lowers the limits of connections to this process's file descriptors, and
    /// logs it. Throws ``WireError`` `descriptorsTooFew`.
    mutating func fitIntoProcess(telling logger: Logger) throws(WireError) {
        let descriptors = try Descriptors(limit: Live.descriptorLimit)
        guard fit(into: descriptors) else { return }
        logger.warning(
            "fewer connections than configured: the process may not open more files",
            metadata: [
                "connectionsMax": "\(connectionsMax)", "descriptors": "\(descriptors.limit)",
                "reserved": "\(descriptors.reserve)",
            ])
    }
}
