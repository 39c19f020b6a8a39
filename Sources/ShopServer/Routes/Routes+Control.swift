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
        Route("GET", "/control/v1/clocks", .realm(.control)) {
            try .json(try await $0.realm.customers.clocks())
        },
        Route("POST", "/control/v1/clocks", .realm(.control)) {
            try .json(try await $0.realm.customers.attachClock(try await $0.body(), $0.context))
        },
        Route("GET", "/control/v1/customers/{}/clock", .realm(.control)) {
            try .json(try await $0.realm.customers.clock(of: $0.parts[0]))
        },
        Route("POST", "/control/v1/customers/{}/clock", .realm(.control)) {
            try .json(
                try await $0.realm.customers.moveClock(
                    of: $0.parts[0], try await $0.body(), $0.context))
        },
        Route("DELETE", "/control/v1/customers/{}/clock", .realm(.control)) {
            try .json(try await $0.realm.customers.detachClock(of: $0.parts[0], $0.context))
        },
        Route("POST", "/control/v1/purchases", .realm(.control)) {
            try .json(try await $0.realm.purchases.buyInPast(try await $0.body(), $0.context))
        },
        Route("GET", "/control/v1/snapshots", .realm(.control)) {
            try .json(try await $0.realm.keeping.listSnapshots())
        },
        Route("POST", "/control/v1/snapshots", .realm(.control)) {
            try .created(
                try await $0.realm.keeping.saveSnapshot(try await $0.body(), $0.context))
        },
        Route("POST", "/control/v1/snapshots/{}/loads", .realm(.control)) {
            try .json(try await $0.realm.keeping.loadSnapshot($0.parts[0], $0.context))
        },
        Route("DELETE", "/control/v1/snapshots/{}", .realm(.control)) {
            try await $0.realm.keeping.deleteSnapshot($0.parts[0], $0.context)
            return .done
        },
        Route("POST", "/control/v1/notifications", .realm(.control)) {
            try .json(
                try await $0.realm.merchant.signNotification(try await $0.body(), $0.context))
        },
        Route("GET", "/control/v1/faults", .realm(.control)) {
            try .json(try await $0.realm.faults.list())
        },
        Route("PUT", "/control/v1/faults/{}", .realm(.control)) {
            try .json(
                try await $0.realm.faults.set($0.parts[0], try await $0.body(), $0.context))
        },
        Route("DELETE", "/control/v1/faults/{}", .realm(.control)) {
            try await $0.realm.faults.clear($0.parts[0], $0.context)
            return .done
        },
        Route("GET", "/control/v1/apps/{}/settings", .realm(.control)) {
            try .json(try await $0.realm.catalogue.settings(bundleID: $0.parts[0]))
        },
    ]
}
