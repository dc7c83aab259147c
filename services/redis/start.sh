#!/bin/sh
# Makes a password for the bot at the first start, then becomes redis-server.
# The volume holds two files: bot.password, which the bot's container mounts read-only, and users.acl with
# its hash. A password in .env would be in `docker inspect` and in backups; nobody has to choose this one.
set -eu
umask 027 # the group is the bot's, so that it can read the password
here=$(dirname "$0")
data=/data

if [ ! -s "$data/bot.password" ]; then
    # 32 bytes = 256 bits
    head -c 32 /dev/urandom | sha256sum | cut -d' ' -f1 | tr -d '\n' >"$data/bot.password.new"
    mv "$data/bot.password.new" "$data/bot.password"
fi
hash=$(sha256sum <"$data/bot.password" | cut -d' ' -f1)
# Written at every start: a list that has changed is in force after the next.
{
    sed "s/BOT_PASSWORD_SHA256/$hash/" "$here/users.acl"
    # For the container's health check; it may do nothing else.
    echo "user probe on nopass resetkeys resetchannels -@all +ping"
} >"$data/users.acl"
exec redis-server "$here/redis.conf" --aclfile "$data/users.acl"
