// SPDX-License-Identifier: Apache-2.0

import CPostgres

/// Collects the warnings that a connection receives beside its answers. A
/// class, because libpq refers to it by address.
final class PostgresNotices {
    private static let severity: Int32 = 86
    private static let message: Int32 = 77

    private(set) var warnings: [String] = []

    /// Handles notices. Otherwise libpq would print them.
    func listen(to handle: OpaquePointer) {
        let address = Unmanaged.passUnretained(self).toOpaque()
        PQsetNoticeReceiver(
            handle,
            { address, result in
                guard let address, let result else { return }
                Unmanaged<PostgresNotices>.fromOpaque(address).takeUnretainedValue().take(result)
            }, address)
    }

    func forget() { warnings = [] }

    private func take(_ result: OpaquePointer) {
        guard let severity = PQresultErrorField(result, Self.severity),
            String(cString: severity) == "WARNING",
            let message = PQresultErrorField(result, Self.message), warnings.count < 16
        else { return }
        warnings.append(String(cString: message))
    }
}
