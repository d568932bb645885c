-- SPDX-License-Identifier: Apache-2.0
-- The numbers of the accounts as which users of other sites run here (LEASE_UIDS). A
-- number is one user's, on all hosts of the site.
CREATE TABLE lease_account (
    site TEXT    NOT NULL,
    user TEXT    NOT NULL,
    uid  INTEGER NOT NULL UNIQUE CHECK (uid > 0),
    PRIMARY KEY (site, user)
) STRICT;
