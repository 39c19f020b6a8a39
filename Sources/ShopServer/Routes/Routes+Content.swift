// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Shop

/// Hosted content: the operators' door, and the packages. A package's address has the
/// link's signature, and needs no key.
extension Routes {
    private static let product = "/operator/v1/apps/{}/products/{}/content"

    static let content: [Route] = [
        Route("GET", "/content/v1/{}", .everyone) { try await ContentDoor($0).package() },
        Route("HEAD", "/content/v1/{}", .everyone) { try await ContentDoor($0).package() },
        Route("GET", "/operator/v1/apps/{}/content", .realm(.operator)) {
            try await ContentDoor($0).list()
        },
        Route("POST", product, .realm(.operator)) { try await ContentDoor($0).begin() },
        Route("GET", product + "/{}", .realm(.operator)) {
            try await ContentDoor($0).version()
        },
        Route("PUT", product + "/{}", .realm(.operator)) { try await ContentDoor($0).piece() },
        Route("POST", product + "/{}/completion", .realm(.operator)) {
            try await ContentDoor($0).complete()
        },
        Route("DELETE", product + "/{}", .realm(.operator)) {
            try await ContentDoor($0).remove()
        },
    ]
}
