// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// The testers' door, with what can be forced only in a sandbox.
extension Routes {
    static let control: [Route] = [
        Route("GET", "/control/v1/clock", .realm(.control)) {
            try .json(try await $0.realm.clock())
        },
        Route("POST", "/control/v1/clock", .realm(.control)) {
            try .json(try await $0.realm.moveClock(try await $0.body(), $0.context))
        },
        Route("GET", "/control/v1/apps/{}/settings", .realm(.control)) {
            try .json(try await $0.realm.catalogue.settings(bundleID: $0.parts[0]))
        },
    ]
}
