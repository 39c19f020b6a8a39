// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The rule that a signed date must not be in the future.
enum SignedDate {
    static func checkFuture(
        _ date: Timestamp, now: Timestamp?, rules: VerificationRules = .all
    ) throws(VerificationFailure) {
        guard let now else { return }
        let latest = now.adding(milliseconds: SignedDataLimits.signedDateToleranceMilliseconds)
        try rules.check(
            .signedInFuture, date <= latest, "signed at \(words(date)), after now, \(now)")
    }

    /// Formats a date for a message. A foreign date may be beyond any calendar.
    static func words(_ date: Timestamp) -> String {
        let yearTenThousand: Int64 = 253_402_300_800_000
        return (0..<yearTenThousand).contains(date.milliseconds)
            ? date.description : "\(date.milliseconds) ms since 1970"
    }
}
