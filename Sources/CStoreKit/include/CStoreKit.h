// SPDX-License-Identifier: Apache-2.0
#ifndef CSTOREKIT_H
#define CSTOREKIT_H

// StoreKit 1's enumerations, declared in C because a C enumeration can be
// open: any raw value makes a value, and `@unknown default` is honest.

#define SK_OPEN_ENUM __attribute__((enum_extensibility(open)))

/// Where a payment stands.
typedef enum SK_OPEN_ENUM SKPaymentTransactionState : long {
    SKPaymentTransactionStatePurchasing = 0,
    SKPaymentTransactionStatePurchased = 1,
    SKPaymentTransactionStateFailed = 2,
    SKPaymentTransactionStateRestored = 3,
    SKPaymentTransactionStateDeferred = 4
} SKPaymentTransactionState;

/// What went wrong, as `SKError` counts it.
typedef enum SK_OPEN_ENUM SKErrorCode : long {
    SKErrorUnknown = 0,
    SKErrorClientInvalid = 1,
    SKErrorPaymentCancelled = 2,
    SKErrorPaymentInvalid = 3,
    SKErrorPaymentNotAllowed = 4,
    SKErrorStoreProductNotAvailable = 5,
    SKErrorCloudServicePermissionDenied = 6,
    SKErrorCloudServiceNetworkConnectionFailed = 7,
    SKErrorCloudServiceRevoked = 8,
    SKErrorPrivacyAcknowledgementRequired = 9,
    SKErrorUnauthorizedRequestData = 10,
    SKErrorInvalidOfferIdentifier = 11,
    SKErrorInvalidSignature = 12,
    SKErrorMissingOfferParams = 13,
    SKErrorInvalidOfferPrice = 14,
    SKErrorOverlayCancelled = 15,
    SKErrorOverlayInvalidConfiguration = 16,
    SKErrorOverlayTimeout = 17,
    SKErrorIneligibleForOffer = 18,
    SKErrorUnsupportedPlatform = 19,
    SKErrorOverlayPresentedInBackgroundScene = 20
} SKErrorCode;

#endif
