// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop
import StoreWire

/// Families of customers: the operators' door.
extension Routes {
    static let families: [Route] = [
        Route("GET", "/operator/v1/customers/{}/family", .realm(.operator)) {
            try .json(try await $0.realm.families.show($0.parts[0]))
        },
        Route("PUT", "/operator/v1/customers/{}/family/members/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.families.join($0.parts[0], member: $0.parts[1], $0.context))
        },
        Route("DELETE", "/operator/v1/customers/{}/family/members/{}", .realm(.operator)) {
            try .json(
                try await $0.realm.families.leave($0.parts[0], member: $0.parts[1], $0.context))
        },
        Route("PUT", "/operator/v1/customers/{}/family/sharing", .realm(.operator)) {
            try .json(
                try await $0.realm.families.setSharing(
                    $0.parts[0], try await $0.body(), $0.context))
        },
    ]
}
