# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec`: Family Sharing, each notification read by Apple's library."""
import json
import sys

from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.RevocationReason import RevocationReason
from appstoreserverlibrary.models.RevocationType import RevocationType
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.Subtype import Subtype

from merchant import heard, listen, next_note, shopkeeper, verifier

listen()


def told(count):
    """The next notifications with their transactions, verified, by ownership and type."""
    all = {}
    for _ in range(count):
        note = next_note()
        sold = verifier.verify_and_decode_signed_transaction(note.data.signedTransactionInfo)
        all[(sold.inAppOwnershipType, note.notificationType)] = (note, sold)
    return all


OWN, SHARED = InAppOwnershipType.PURCHASED, InAppOwnershipType.FAMILY_SHARED
checks = {}
for product in ["pro", "paper"]:
    shopkeeper("product", "set", product, "--family-shareable")
shopkeeper("customer", "create", "kid")
shopkeeper("buy", "credits", "--customer", "kid")
told(1)
family = shopkeeper("family", "share", "customer", "kid")
checks["the family has two people"] = len(family["people"]) == 2
pro = shopkeeper("buy", "pro")["transactionId"]
both = told(2)
note, given = both[(SHARED, NotificationTypeV2.ONE_TIME_CHARGE)]
checks["the member has it"] = given.transactionId != pro and given.price == 0 and given.productId == "pro"
paper = shopkeeper("buy", "paper")["transactionId"]
both = told(2)
note, given = both[(SHARED, NotificationTypeV2.SUBSCRIBED)]
renewal = verifier.verify_and_decode_renewal_info(note.data.signedRenewalInfo)
checks["the member subscribes"] = (
    note.subtype == Subtype.INITIAL_BUY
    and note.data.status == Status.ACTIVE
    and renewal.originalTransactionId == given.originalTransactionId
    and renewal.renewalPrice is None
)
shopkeeper("clock", "advance", "1mo")
both = told(2)
checks["it is renewed for both"] = {key[0] for key in both} == {OWN, SHARED} and {key[1] for key in both} == {
    NotificationTypeV2.DID_RENEW
}
shopkeeper("refund", pro)
both = told(2)
note, lost = both[(SHARED, NotificationTypeV2.REVOKE)]
checks["a refund revokes it for the member"] = (
    (OWN, NotificationTypeV2.REFUND) in both
    and lost.revocationDate is not None
    and lost.revocationReason == RevocationReason.REFUNDED_FOR_OTHER_REASON
    and lost.revocationType == RevocationType.FAMILY_REVOKE
)
shopkeeper("family", "stop", "customer", "--purchases")
note, lost = told(1)[(SHARED, NotificationTypeV2.REVOKE)]
checks["who stops sharing takes it back"] = lost.productId == "paper" and note.data.status == Status.REVOKED
shown = shopkeeper("family", "show", "kid")
checks["and is shown"] = {person["customerId"]: person["isSharing"] for person in shown["people"]} == {
    person["customerId"]: person["customerId"] != shown["organiserId"] for person in shown["people"]
}
checks["the family is dissolved"] = shopkeeper("family", "stop", "customer")["people"] == []
checks["nothing else was sent"] = heard.empty()
kinds = [event["kind"] for event in shopkeeper("history", "kid")]
checks["the history has every step"] = kinds == [
    "familyJoined", "familyGranted", "familyGranted", "familyGranted", "familyRevoked", "familyRevoked",
    "familyDissolved",
]

print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
